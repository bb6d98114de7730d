// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/doorbell.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "wait/event_source.hpp"

namespace progress_engine {
namespace {

// A program of this test's own; tests may run side by side.
std::string program(const char* name) { return fmt::format("{} {}", name, getpid()); }

// A ring to a sleeper, at random moments of its way to sleep: a lost one would cost the whole bound.
void ring_many_times(const std::string& name, const std::function<void(Doorbell&)>& sleep) {
  constexpr int rounds = 3000;
  Doorbell owner(name, 0, 2);
  Doorbell sender(name, 1, 2);
  std::atomic<int> sent{0};
  std::atomic<int> seen{0};
  std::jthread receiver([&] {
    while (seen < rounds) {
      owner.own().answer();
      if (sent > seen)
        ++seen;
      else
        sleep(owner);
    }
  });
  const Nanoseconds begin = now();
  for (int i = 1; i <= rounds && now() - begin < seconds(25); ++i) {
    sent.store(i, std::memory_order_release);
    EXPECT_TRUE(sender.ring(0));
    while (seen < i && now() - begin < seconds(25)) {
    }
  }
  EXPECT_EQ(seen, rounds);
  sent = rounds;
  seen = rounds;
  sender.ring(0);
}

TEST(Doorbell, LosesNoRingOfASleeperOnTheLine) {
  ring_many_times(program("line"), [](Doorbell& owner) { owner.own().sleep(seconds(30)); });
}

TEST(Doorbell, LosesNoRingOfASleeperInEpoll) {
  EpollEvents events(Sockets::none);
  bool watched = false;
  ring_many_times(program("epoll"), [&](Doorbell& owner) {
    if (!std::exchange(watched, true)) events.watch(owner.published().descriptor(), [&] { owner.published().drain(); });
    owner.own().sleep_elsewhere([&] { events.wait(seconds(30)); });
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

TEST(Doorbell, OtherProgramsAreNoNeighbours) {
  const Doorbell other(program("others"), 0, 2);
  Doorbell ours(program("ours"), 1, 2);
  EXPECT_FALSE(ours.ring(0));
  EXPECT_EQ(ours.counts().neighbours, 0U);
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
  for (const Nanoseconds end = now() + seconds(20); !sender.ring(0) && now() < end;) sender.look_around();
  EXPECT_EQ(find_neighbours(name).size(), 2U);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(find_neighbours(name).size(), 1U);
  EXPECT_TRUE(sender.ring(0)) << "its page outlives it, and ringing it harms nobody";
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
  EXPECT_EQ(ranks.find(key), -1) << "a process of another world";
  ranks.forget();
  EXPECT_EQ(ranks.find(ranks.key_of(0x44000000, 3)), RankCache::unknown) << "the handle may come again";
}

TEST(Doorbell, WhatOthersPublishIsNotTrusted) {
  EXPECT_FALSE(map_line("progress-engine/0/0/0/1/0"));  // a file of another process, or none
  EXPECT_FALSE(map_line("nonsense"));
  EXPECT_FALSE(map_line(""));
}

}  // namespace
}  // namespace progress_engine
