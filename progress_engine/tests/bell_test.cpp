// SPDX-License-Identifier: BSD-3-Clause
// The bell between "nodes" of this machine.
#include "wakeup/bell.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>

#include "bell_job.hpp"

namespace progress_engine {
namespace {

TEST_F(Job, FindsARankAmongTheHostsAndThenRingsThereAlone) {
  const auto one = bell(0, 1, rung1_);
  const auto two = bell(1, 2, rung2_);
  const auto three = bell(5, 3, rung3_);
  const Nanoseconds begin = now();
  ASSERT_TRUE(reaches(*one, 5, rung3_));
  ASSERT_TRUE(eventually([&] {
    one->turn();
    one->ring(5);
    return three->counts().taken >= 5;
  }));
  EXPECT_EQ(rung2_, 0);
  const auto refused = two->counts().refused;
  const auto later = static_cast<std::uint64_t>((now() - begin) / seconds(1));  // on a busy machine
  EXPECT_LE(refused, 3 + later) << "asked once or so, and not when it was known";
  EXPECT_TRUE(three->counts().keeps);
}

// A ring that was owed after the question went out is not the question's.
TEST_F(Job, OwesARingThatCameAfterTheQuestion) {
  const auto one = bell(0, 1, rung1_);
  const auto two = bell(3, 2, rung2_);
  one->ring(3);
  one->turn();  // asks
  ASSERT_TRUE(eventually([&] { return rung2_ > 0; }));
  const int before = rung2_;
  one->ring(3);  // it is not known yet where that is
  EXPECT_TRUE(eventually([&] {
    one->turn();
    return rung2_ > before;
  }));
}

// Whom somebody rang knows where he is: answers need no search.
TEST_F(Job, RingsBackWithoutAsking) {
  const auto one = bell(0, 1, rung1_);
  const auto two = bell(3, 2, rung2_);
  const auto three = bell(5, 3, rung3_);
  ASSERT_TRUE(reaches(*one, 3, rung2_));
  ASSERT_TRUE(reaches(*one, 5, rung3_)) << "then node 3 has read the questions of before, too";
  const auto before = three->counts().refused;
  ASSERT_TRUE(eventually([&] {
    two->ring_partners();
    return rung1_ > 0;
  }));
  EXPECT_EQ(three->counts().refused, before);
}

TEST_F(Job, OneProcessOfANodePassesOnForAll) {
  const auto one = bell(0, 1, rung1_);
  const auto keeper = bell(2, 2, rung2_, "job", {3});
  const auto other = bell(3, 2, rung3_);
  EXPECT_TRUE(keeper->counts().keeps);
  EXPECT_FALSE(other->counts().keeps);
  EXPECT_TRUE(reaches(*one, 3, rung2_));
  EXPECT_EQ(rung3_, 0) << "through its keeper";
}

TEST_F(Job, AnotherProcessTakesOverWhenTheKeeperEnds) {
  const auto one = bell(0, 1, rung1_);
  auto keeper = bell(2, 2, rung2_);
  const auto other = bell(3, 2, rung3_);
  keeper->stop();
  EXPECT_TRUE(eventually([&] {
    other->turn();
    return other->counts().keeps;
  }));
  EXPECT_TRUE(reaches(*one, 3, rung3_));
}

// Its port is its job's. A neighbour of its keeper finds that out by asking; so does one where another program has it.
TEST_F(Job, SaysThatAnotherProgramHasItsPort) {
  const OwnDescriptor other(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(static_cast<in_port_t>(port_));
  here.sin_addr.s_addr = inet_addr(node(1).c_str());
  ASSERT_EQ(bind(other.number(), reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
  const auto without_keeper = bell(0, 1, rung1_);
  const auto keeper = bell(2, 2, rung2_);
  const auto neighbour = bell(3, 2, rung3_);
  const std::string said = "another program or another job has UDP port " + std::to_string(port_);
  EXPECT_TRUE(eventually([&] { return without_keeper->counts().state.starts_with(said); }));
  EXPECT_EQ(neighbour->counts().state, "rings");
  EXPECT_EQ(keeper->counts().state, "rings");
  EXPECT_EQ(keeper->counts().taken, 0U) << "the question was no ring";
}

TEST_F(Job, NeverRingsAnotherJobOnTheSameNodes) {
  const auto one = bell(0, 1, rung1_, "job");
  const auto other_job = bell(5, 2, rung2_, "another job");
  for (int i = 0; i < 50; ++i) {
    one->ring(5);
    one->turn();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(eventually([&] { return other_job->counts().refused > 0; }));
  EXPECT_EQ(other_job->counts().taken, 0U);
  EXPECT_EQ(rung2_, 0);
}

// A job of more than a day: the next job's bell would take its name for one that a killed process left.
TEST_F(Job, KeepsItsNameFresh) {
  Bell one(plan_on(1), [](int) { return false; });
  one.start();
  const auto name = fs::directory_iterator(folder_ / "bell.hosts")->path();
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(23);
  fs::last_write_time(name, old);
  EXPECT_TRUE(eventually([&] {
    one.turn();
    return fs::last_write_time(name) > old + std::chrono::hours(22);
  }));
  fs::remove(name);
  EXPECT_TRUE(eventually([&] {
    one.turn();
    return fs::exists(name);
  })) << "somebody tidied up";
  one.stop();
  EXPECT_FALSE(fs::exists(name));
}

TEST_F(Job, WithoutAThreadThePortIsLeftToOthers) {
  const auto keep = [&] {
    return BellKeeper::try_to_keep(inet_addr(node(1).c_str()), static_cast<in_port_t>(port_), {1, 2}, size,
                                   [](const BellMessage&, const sockaddr_in&) { return true; });
  };
  pthread_attr_t usual;
  pthread_attr_t vast;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_getattr_default_np(&vast), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&vast, std::size_t{1} << 47), 0);
  ASSERT_EQ(pthread_setattr_default_np(&vast), 0);
  EXPECT_THROW(keep(), std::system_error);
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  EXPECT_TRUE(keep());
}

// As daemons close all descriptors: who sleeps in one cannot be woken by its number any more.
TEST_F(Job, AKeeperEndsThoughItsDescriptorsWereClosed) {
  const auto close_and_end = [&] {
    alarm(120);                               // should it not end
    const int of_socket = dup(STDIN_FILENO);  // the numbers that it will get
    const int of_its_end = dup(STDIN_FILENO);
    close(of_socket);
    close(of_its_end);
    auto keeper = BellKeeper::try_to_keep(inet_addr(node(1).c_str()), static_cast<in_port_t>(port_), {1, 2}, size,
                                          [](const BellMessage&, const sockaddr_in&) { return true; });
    const auto sleeps = [] {  // its state in proc(5) stands behind its name
      const auto said = told_of_the_keeper("stat");
      return said.find(") S ") != std::string::npos;
    };
    if (!eventually(sleeps)) std::_Exit(2);
    if (!keeper || close(of_socket) + close(of_its_end) != 0) std::_Exit(1);
    keeper.reset();
    std::_Exit(0);
  };
  EXPECT_EXIT(close_and_end(), testing::ExitedWithCode(0), "");
}

TEST_F(Job, RingsNobodyWithoutAName) {
  BellPlan plan;
  plan.size = size;
  plan.key_file = folder_ / "bell.key";
  plan.hosts = [] { return std::vector<std::string>{}; };
  Bell nameless(plan, [](int) { return true; });
  nameless.ring(1);
  EXPECT_TRUE(nameless.wanted());
  nameless.start();
  EXPECT_NE(nameless.counts().state.find("no name"), std::string::npos);
  nameless.ring(1);
  nameless.turn();
  nameless.ring_partners();
  EXPECT_EQ(nameless.counts().sent, 0U);
  EXPECT_FALSE(fs::exists(folder_ / "bell.key")) << "nor makes a key";
}

// By default: not on one host. No key is made, nothing is written.
TEST_F(Job, ThatNobodyAskedForNeedsAnotherHost) {
  BellPlan plan = plan_on(1, {"alone"});
  plan.asked_for = false;
  Bell bell(plan, [](int) { return true; });
  bell.ring(1);
  bell.start();
  EXPECT_EQ(bell.counts().state, "this job runs on one host");
  bell.ring(1);
  bell.turn();
  EXPECT_EQ(bell.counts().sent, 0U);
  EXPECT_FALSE(bell.counts().keeps);
  EXPECT_FALSE(fs::exists(folder_));
  plan.hosts = [] { return std::vector<std::string>{node(1), node(2)}; };
  Bell known(plan, [](int) { return true; });
  known.start();
  EXPECT_EQ(known.counts().state, "rings");
}

TEST_F(Job, IsQuietWhileSomethingElseAnnouncesTraffic) {
  const auto one = bell(0, 1, rung1_);
  const auto two = bell(3, 2, rung2_);
  ASSERT_TRUE(reaches(*one, 3, rung2_));
  one->be_quiet(true);
  const auto sent = one->counts().sent;
  for (int i = 0; i < 10; ++i) one->ring(3);
  one->ring_all([](int) { return false; });
  EXPECT_EQ(one->counts().sent, sent);
  one->be_quiet(false);
  EXPECT_TRUE(reaches(*one, 3, rung2_));
}

// Who receives from any source cannot say from whom: his bell must begin all the same, else he keeps no port, and those
// that ring for him do not find him.
TEST_F(Job, BeginsForAReceiveFromAnySource) {
  const auto one = bell(0, 1, rung1_);
  const auto two = bell(3, 2, rung2_);
  EXPECT_FALSE(two->wanted());
  two->expect_anyone();
  EXPECT_TRUE(two->wanted());
  two->ring(1);
  two->forget(1);
  EXPECT_TRUE(two->wanted()) << "others may be far";
  ASSERT_TRUE(reaches(*one, 3, rung2_));
  const int before = rung1_;
  EXPECT_TRUE(eventually([&] {
    two->expect_anyone();  // the answer to a sender that has asked leaves in such a call
    two->turn();
    return rung1_ > before;
  }));
}

// A program with more partners than the table has places.
TEST_F(Job, WhoWasUsedLongestAgoMakesPlace) {
  BellPlan plan;
  plan.size = 2000;
  plan.job = "job";
  plan.hosts = [] { return std::vector<std::string>{node(1), node(2)}; };
  plan.key_file = folder_ / "bell.key";
  plan.port = port_;
  plan.interval = microseconds(1);
  plan.address = inet_addr(node(1).c_str());
  Bell one(plan, [](int target) { return target == 0; });
  one.start();
  plan.rank = 1900;
  plan.address = inet_addr(node(2).c_str());
  Bell two(plan, [this](int target) {
    rung2_ += target == 1900 ? 1 : 0;
    return target == 1900;
  });
  two.start();
  ASSERT_TRUE(eventually([&] {
    one.ring(1900);
    one.turn();
    return two.counts().taken >= 3;  // the second ring comes after the answer
  }));
  for (int rank = 1; rank <= 1100; ++rank) one.ring(rank);
  EXPECT_GE(one.counts().bounded, 77U);
  const auto sent = one.counts().sent;
  const int before = rung2_;
  one.ring(1900);
  EXPECT_EQ(one.counts().sent, sent + 1) << "where it is need not be asked again";
  EXPECT_TRUE(eventually([&] { return rung2_ > before; }));
}

// However many there are. A collective operation over a thousand ranks rings some twenty of them.
TEST_F(Job, RingsFewInACollectiveOperation) {
  BellPlan plan;
  plan.size = 1000;
  Bell large(plan, [](int) { return true; });
  std::set<int> asked;
  large.ring_all([&](int rank) {
    asked.insert(rank);
    return false;
  });
  EXPECT_LE(asked.size(), 30U);
  EXPECT_TRUE(asked.contains(1) && asked.contains(999) && asked.contains(512));
}

// Forty partners that nobody has found yet: each turn asks for a few of them, and each of them has a turn.
TEST_F(Job, SendsFewDatagramsATurn) {
  BellPlan plan;
  plan.size = 41;
  plan.job = "job";
  plan.hosts = [] { return std::vector<std::string>(8, node(1)); };
  plan.key_file = folder_ / "bell.key";
  plan.port = port_;
  plan.address = inet_addr(node(1).c_str());
  Bell one(plan, [](int) { return false; });
  one.start();
  for (int rank = 1; rank < plan.size; ++rank) one.ring(rank);
  std::uint64_t most = 0;
  for (int i = 0; i < 20; ++i) {
    const auto before = one.counts().sent;
    one.turn();
    most = std::max(most, one.counts().sent - before);
  }
  EXPECT_LE(most, 16U);
  EXPECT_EQ(one.counts().sent, 40U * 8) << "each was asked for once, on eight hosts";
  EXPECT_GE(one.counts().bounded, 19U);
}

}  // namespace
}  // namespace progress_engine
