// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/doorbell.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "eventually.hpp"
#include "wait/event_source.hpp"

namespace progress_engine {
namespace {

// A program of this test's own; tests may run side by side.
std::string program(const char* name) { return fmt::format("{} {}", name, getpid()); }

void ring_many_times(const std::string& name, const std::function<void(Doorbell&)>& sleep) {
  Doorbell owner(name, 0, 2);
  Doorbell sender(name, 1, 2);
  Rings rings;
  ring_many_times(
      3000, rings,
      [&] {
        owner.own().answer();
        if (!rings.one_waits()) sleep(owner);
      },
      [&] { EXPECT_TRUE(sender.ring(0)); });
}

TEST(Doorbell, LosesNoRingOfASleeperOnTheLine) {
  ring_many_times(program("line"), [](Doorbell& owner) { owner.own().sleep(for_ever); });
}

TEST(Doorbell, LosesNoRingOfASleeperInEpoll) {
  EpollEvents events(Sockets::none);
  bool watched = false;
  ring_many_times(program("epoll"), [&](Doorbell& owner) {
    if (!std::exchange(watched, true)) events.watch(owner.published().descriptor(), [&] { owner.published().drain(); });
    owner.own().sleep_elsewhere([&] { events.wait(for_ever); });
  });
}

TEST(Doorbell, EverySleepEnds) {
  const Doorbell owner(program("bounded"), 0, 1);
  const Nanoseconds before = now();
  owner.own().sleep(microseconds(2000));
  EXPECT_GE(now() - before, microseconds(2000));
}

TEST(Doorbell, ARingIsAnsweredOnce) {
  const Doorbell owner(program("once"), 0, 2);
  Doorbell sender(program("once"), 1, 2);
  EXPECT_FALSE(owner.own().answer());
  sender.ring(0);
  sender.ring(0);
  EXPECT_TRUE(owner.own().answer());
  EXPECT_FALSE(owner.own().answer());
  EXPECT_EQ(sender.counts().wakes, 0U) << "nobody slept";
  EXPECT_TRUE(sender.all_are_near());
}

TEST(Doorbell, TellsThatTheMessageIsStillToCome) {
  const Doorbell owner(program("coming"), 0, 2);
  Doorbell sender(program("coming"), 1, 2);
  EXPECT_TRUE(sender.ring(0, WakeupLine::Ring::coming));
  EXPECT_EQ(owner.own().take(), WakeupLine::Ring::coming);
  sender.ring(0);
  EXPECT_EQ(owner.own().take(), WakeupLine::Ring::sent);
  EXPECT_EQ(owner.own().take(), WakeupLine::Ring::none);
}

TEST(Doorbell, FindsThoseWhoCameLater) {
  Doorbell early(program("later"), 0, 3);
  EXPECT_FALSE(early.ring(2));
  Doorbell late(program("later"), 2, 3);
  EXPECT_TRUE(late.ring(0));
  early.missed(1);
  EXPECT_TRUE(early.ring(2));
  EXPECT_EQ(early.counts().neighbours, 1U);
  EXPECT_FALSE(early.all_are_near());
  EXPECT_FALSE(early.ring(1));
  EXPECT_FALSE(early.ring(7)) << "no rank of this program";
  EXPECT_EQ(early.counts().unreached, 0U) << "nobody says how many are here";
}

TEST(Doorbell, LooksForNobodyWhereAllWereFound) {
  Doorbell alone(program("alone"), 0, 3, 1);
  Doorbell one_of_two(program("alone"), 1, 3, 2);
  const Doorbell late(program("alone"), 2, 3, 2);
  for (Doorbell* doorbell : {&alone, &one_of_two}) {
    doorbell->look_around();
    doorbell->missed(1);
    EXPECT_FALSE(doorbell->ring(2));
    EXPECT_EQ(doorbell->counts().unreached, 0U);
  }
}

TEST(Doorbell, CountsThoseWhomTheLauncherCountsAndNobodyFinds) {
  const Doorbell lonely(program("lonely"), 0, 4, 3);
  EXPECT_EQ(lonely.counts().unreached, 2U);
  const Doorbell second(program("lonely"), 1, 4, 3);
  EXPECT_EQ(second.counts().unreached, 1U);
}

TEST(Doorbell, LooksAroundForAHundredthOfTheTime) {
  Doorbell early(program("rarely"), 0, 2);
  const Nanoseconds begin = now();
  early.missed(1);
  const Nanoseconds look = now() - begin;
  const Doorbell late(program("rarely"), 1, 2);
  early.missed(2);
  if (now() - begin < 50 * look) {
    EXPECT_FALSE(early.ring(1)) << "it has just looked";
  }
  EXPECT_TRUE(eventually([&] {
    early.missed(4);
    return early.ring(1);
  }));
}

TEST(Doorbell, RingsOnlyPartnersUntilAllAreConcerned) {
  const std::string name = program("partners");
  const Doorbell one(name, 1, 3);
  const Doorbell two(name, 2, 3);
  Doorbell sender(name, 0, 3);
  EXPECT_TRUE(sender.expect(1));
  sender.ring_partners();
  EXPECT_TRUE(one.own().answer());
  EXPECT_FALSE(two.own().answer());
  sender.ring_partners(true);
  EXPECT_TRUE(two.own().answer());
  EXPECT_EQ(sender.counts().rings, 3U);
}

// A node of many ranks: rank 0's doorbell, and the lines that the others sleep on.
class ManyNeighbours : public testing::Test {
 protected:
  void SetUp() override {
    for (int rank = 1; rank < size; ++rank) lines_.push_back(std::make_unique<PublishedLine>(name_, rank));
    sender_ = std::make_unique<Doorbell>(name_, 0, size);
    ASSERT_EQ(sender_->counts().neighbours, lines_.size());
  }
  // Who was rung since the last time.
  std::set<int> rung() {
    std::set<int> ranks;
    for (int rank = 1; rank < size; ++rank)
      if (lines_[static_cast<std::size_t>(rank) - 1]->line().answer()) ranks.insert(rank);
    return ranks;
  }

  static constexpr int size = 41;
  const std::string name_ = program("many");
  std::vector<std::unique_ptr<PublishedLine>> lines_;
  std::unique_ptr<Doorbell> sender_;
};

TEST_F(ManyNeighbours, AStartRingsSixteenAtMostAndFirstPartnersAmongThem) {
  sender_->ring_partners(true);
  const auto ranks = rung();
  for (const int rank : {1, 2, 4, 8, 16, 32, 40, 39, 37, 33, 25, 9}) EXPECT_TRUE(ranks.contains(rank)) << rank;
  EXPECT_LE(ranks.size(), 16U);
  EXPECT_EQ(sender_->counts().rings, 16U);
  EXPECT_EQ(sender_->counts().bounded, 1U);
}

TEST_F(ManyNeighbours, EveryoneHasATurnAndPartnersAlways) {
  sender_->expect(20);
  sender_->ring_partners(true);
  auto ranks = rung();
  for (int polls = 0; polls < size && ranks.size() < lines_.size(); ++polls) {
    sender_->ring_partners();
    const auto now_rung = rung();
    EXPECT_LE(now_rung.size(), 16U);
    for (const int partner : {20, 1, 2, 4, 40, 39}) EXPECT_TRUE(now_rung.contains(partner)) << partner;
    ranks.insert(now_rung.begin(), now_rung.end());
  }
  EXPECT_EQ(ranks.size(), lines_.size());
}

TEST_F(ManyNeighbours, MorePartnersThanRingsTakeTurns) {
  for (int rank = 1; rank <= 36; ++rank) sender_->expect(rank);
  sender_->ring_partners();
  auto ranks = rung();
  EXPECT_EQ(ranks.size(), 32U);
  sender_->ring_partners();
  ranks.merge(rung());
  EXPECT_EQ(ranks.size(), 36U);
  EXPECT_FALSE(ranks.contains(37)) << "no partner";
  EXPECT_EQ(sender_->counts().bounded, 2U);
}

TEST_F(ManyNeighbours, SeveralThreadsRingAndMakePartnersAtOnce) {
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([this, thread] {
        for (int i = 0; i < 200; ++i) {
          sender_->ring(1 + (10 * thread + i) % (size - 1));
          sender_->ring_partners(i % 50 == thread);
        }
      });
  }
  EXPECT_EQ(rung().size(), lines_.size());
}

TEST(Doorbell, RingsAllWhereTheyAreSixteen) {
  const std::string name = program("sixteen");
  std::vector<std::unique_ptr<PublishedLine>> lines;
  for (int rank = 1; rank <= 16; ++rank) lines.push_back(std::make_unique<PublishedLine>(name, rank));
  Doorbell sender(name, 0, 17);
  sender.ring_partners(true);
  for (const auto& line : lines) EXPECT_TRUE(line->line().answer());
  EXPECT_EQ(sender.counts().rings, 16U);
  EXPECT_EQ(sender.counts().bounded, 0U);
}

// Anybody may send datagrams to the name. A full queue is emptied in several calls, so that none lasts for ever.
TEST(Doorbell, EmptiesItsSocketByAFewDatagramsAtATime) {
  const PublishedLine owner(program("flooded"), 0);
  const PublishedLine stranger(program("stranger"), 0);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  owner.name().copy(to.sun_path + 1, sizeof to.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + owner.name().size());
  int sent = 0;
  while (sent < 2000 &&
         sendto(stranger.descriptor(), "", 1, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to), size) == 1)
    ++sent;
  ASSERT_GE(sent, 8) << "the kernel queues ten by default";
  int calls = 1;
  while (!owner.drain()) ++calls;
  EXPECT_EQ(calls, sent / 8 + 1);
  EXPECT_TRUE(owner.drain());
}

TEST(Doorbell, OtherProgramsAreNoNeighbours) {
  const Doorbell other(program("others"), 0, 2);
  Doorbell ours(program("ours"), 1, 2);
  EXPECT_FALSE(ours.ring(0));
  EXPECT_EQ(ours.counts().neighbours, 0U);
}

// Containers of one rank each: neither sees the other's number or its files.
TEST(Doorbell, WakesThroughNamespacesOfUsersAndProcesses) {
  constexpr int which = CLONE_NEWUSER | CLONE_NEWPID;
  const std::string name = program("containers");
  const pid_t first = start_in_namespaces(which, [&] {
    const Doorbell owner(name, 0, 2);
    return eventually([&] {
      owner.own().sleep(microseconds(100'000));
      return owner.own().rung();
    });
  });
  const pid_t second = start_in_namespaces(which, [&] {
    Doorbell sender(name, 1, 2);
    return eventually([&] {
      sender.look_around();
      return sender.ring(0);
    });
  });
  const int rang = status_of(second);
  if (rang != 1) kill(first, SIGKILL);
  const int woken = status_of(first);
  if (rang == forbidden) GTEST_SKIP() << "no namespaces can be made here";
  EXPECT_EQ(rang, 1);
  EXPECT_EQ(woken, 1);
}

TEST(Doorbell, CountsWhoIsPublishedAndCannotBeReached) {
  const std::string name = program("apart");
  const PublishedLine line(name, 0);
  const int told = status_of(start_in_namespaces(CLONE_NEWUSER | CLONE_NEWIPC, [&] {
    Doorbell apart(name, 1, 2);
    const Doorbell beside(name, 0, 2);  // the same rank, within reach
    const bool alone = apart.neighbours() == 0 && apart.counts().unreached == 1;
    apart.look_around();
    return alone && apart.neighbours() == 1 && apart.counts().unreached == 0;
  }));
  if (told == forbidden) GTEST_SKIP() << "no namespaces can be made here";
  EXPECT_EQ(told, 1);
}

// The real thing: two processes; and the kernel cleans up after one that is killed.
TEST(Doorbell, WakesAnotherProcessAndVanishesWithIt) {
  const std::string name = program("processes");
  const pid_t child = fork();
  if (child == 0) {
    const Doorbell owner(name, 0, 2);
    while (!owner.own().rung()) owner.own().sleep(seconds(60));
    for (;;) pause();
  }
  Doorbell sender(name, 1, 2);
  EXPECT_TRUE(eventually([&] {
    sender.look_around();
    return sender.ring(0);
  }));
  EXPECT_EQ(find_neighbours(name).size(), 2U);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(find_neighbours(name).size(), 1U);
  EXPECT_TRUE(sender.ring(0)) << "its page outlives it, and ringing it harms nobody";
}

TEST(Doorbell, LeavesNoSegment) {
  auto line = std::make_unique<PublishedLine>(program("gone"), 0);
  const std::string name = line->name();
  EXPECT_TRUE(map_line(name)) << "although it is marked for removal";
  line.reset();
  EXPECT_FALSE(map_line(name));
}

// What it keeps is of the neighbours alone: a table of all ranks would be 8 GB here.
TEST(Doorbell, FindsNeighboursAmongAnyNumberOfRanks) {
  constexpr int apart = 1 << 23;
  constexpr int near = 100;
  const auto name = program("many");
  std::vector<std::unique_ptr<PublishedLine>> lines;
  for (int i = 1; i <= near; ++i) lines.push_back(std::make_unique<PublishedLine>(name, i * apart));
  Doorbell doorbell(name, 0, 1 << 30);
  EXPECT_EQ(doorbell.neighbours(), 100U);
  EXPECT_EQ(doorbell.ranks_of_neighbours().size(), 100U);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(doorbell.ring(i * apart), 0 < i && i <= near) << i;
  EXPECT_FALSE(doorbell.ring(1));
  EXPECT_FALSE(doorbell.ring(-1));
}

TEST(Doorbell, RemembersWhichRankARankIsUntilACommunicatorIsGone) {
  RankCache ranks;
  const auto key = ranks.key_of(0x44000000, 3);
  EXPECT_EQ(ranks.find(key), RankCache::unknown);
  ranks.remember(key, 7);
  EXPECT_EQ(ranks.find(key), 7);
  EXPECT_EQ(ranks.find(ranks.key_of(0x44000000, 2)), RankCache::unknown);
  EXPECT_EQ(ranks.find(ranks.key_of(0x44000001, 3)), RankCache::unknown);
  ranks.remember(key, -1);
  EXPECT_EQ(ranks.find(key), -1) << "on another node";
  ranks.forget();
  EXPECT_EQ(ranks.find(ranks.key_of(0x44000000, 3)), RankCache::unknown) << "the handle may come again";
}

// Files belong to the effective user: a program of root's may have become another one before MPI_Init.
TEST(DoorbellDeathTest, IsTheEffectiveUsers) {
  const auto publish = [] {
    if (getuid() == 0 && seteuid(65534) != 0) std::_Exit(0);
    const PublishedLine line(program("effective"), 0);
    std::_Exit(0);
  };
  EXPECT_EXIT(publish(), testing::ExitedWithCode(0), "");
}

// As daemons close all descriptors: the numbers are the program's next sockets'.
TEST(Doorbell, LeavesAloneWhatHasItsNumbers) {
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  auto line = std::make_unique<PublishedLine>(program("closed"), 0);
  const int number = line->descriptor();
  ASSERT_EQ(close(number), 0);
  const int theirs = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(theirs, number);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listening, any, size) + listen(listening, 1) + getsockname(listening, any, &size), 0);
  ASSERT_EQ(connect(theirs, any, size), 0);
  const int peer = accept(listening, nullptr, nullptr);
  char byte = 'x';
  ASSERT_EQ(write(peer, &byte, 1), 1);
  ASSERT_EQ(recv(theirs, &byte, 1, MSG_PEEK), 1) << "it has come";
  fcntl(theirs, F_SETFL, O_NONBLOCK);
  EXPECT_TRUE(line->drain());
  EXPECT_EQ(recv(theirs, &byte, 1, 0), 1) << "nothing was read";
  line->wake(line->name());
  line.reset();
  EXPECT_EQ(shutdown(theirs, SHUT_WR), 0) << "it was not closed";
  EXPECT_EQ(recv(peer, &byte, 1, 0), 0) << "nothing was sent";
  EXPECT_EQ(close(listening) + close(theirs) + close(peer), 0);
}

TEST(Doorbell, WhatOthersPublishIsNotTrusted) {
  const PublishedLine line("a program", 3);
  EXPECT_TRUE(map_line(line.name()));
  EXPECT_FALSE(map_line(line.name() + "0")) << "the same number is another page's in another IPC namespace";
  for (const char* name : {"progress-engine/2/0/0/-1/0", "progress-engine/2/0/0/x/0", "nonsense", "1/", "/1/", "/", ""})
    EXPECT_FALSE(map_line(name)) << name;
}

// Another segment of this user's, a database's say, is not even attached unless it could be a page; then it is read.
TEST(Doorbell, OtherSegmentsAreLeftAlone) {
  for (const int pages : {1, 2}) {
    const int segment = shmget(IPC_PRIVATE, static_cast<std::size_t>(4096) * pages, IPC_CREAT | 0600);
    ASSERT_GE(segment, 0);
    EXPECT_FALSE(map_line(fmt::format("progress-engine/2/0/0/{}/0", segment)));
    shmid_ds found{};
    EXPECT_EQ(shmctl(segment, IPC_STAT, &found), 0);
    EXPECT_EQ(found.shm_atime != 0, pages == 1);
    EXPECT_EQ(found.shm_nattch, 0U);
    EXPECT_EQ(shmctl(segment, IPC_RMID, nullptr), 0);
  }
}

TEST(WakeBudget, AllowsABurstAndThenAWakeAPeriod) {
  WakeBudget budget(3, microseconds(1000));
  const Nanoseconds start = seconds(100);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(budget.take(start), 0);
  EXPECT_EQ(budget.take(start), microseconds(1000));
  EXPECT_EQ(budget.take(start + microseconds(1000)), microseconds(1000));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(budget.take(start + seconds(1)), 0) << "rest fills it again";
  EXPECT_GT(budget.take(start + seconds(1)), 0);
}

}  // namespace
}  // namespace progress_engine
