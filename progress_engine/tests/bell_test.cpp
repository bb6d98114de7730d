// SPDX-License-Identifier: BSD-3-Clause
// The bell between "nodes" of this machine, which are addresses of its loopback network.
#include "wakeup/bell.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

namespace progress_engine {
namespace {

namespace fs = std::filesystem;

class Job : public testing::Test {
 protected:
  static void SetUpTestSuite() { ports_ = 20000 + (getpid() % 500) * 20; }
  void SetUp() override { port_ = ++ports_; }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string node(int number) { return fmt::format("127.0.0.{}", number); }

  // The bell of `rank` on node `number`; who is rung there is noted.
  std::unique_ptr<Bell> bell(int rank, int number, std::atomic<int>& rung, const std::string& job = "job",
                             std::set<int> ranks_here = {}) const {
    BellPlan plan;
    plan.rank = rank;
    plan.size = size;
    plan.job = job;
    plan.hosts = [] { return std::vector<std::string>{node(1), node(2), node(3)}; };
    plan.key_file = folder_ / "bell.key";
    plan.port = port_;
    plan.interval = microseconds(1);
    plan.address = inet_addr(node(number).c_str());
    ranks_here.insert(rank);
    auto made = std::make_unique<Bell>(plan, [&rung, ranks_here](int target) {
      rung += ranks_here.contains(target) ? 1 : 0;
      return ranks_here.contains(target);
    });
    made->start();
    EXPECT_EQ(made->counts().state, "rings");
    return made;
  }

  template <typename Holds>
  static bool eventually(Holds&& holds) {
    for (const Nanoseconds end = now() + seconds(10); now() < end;) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return false;
  }

  // Rings until it is heard, as the engine's turns do.
  static bool reaches(Bell& sender, int rank, const std::atomic<int>& rung) {
    const int before = rung;
    sender.ring(rank);
    return eventually([&] {
      sender.turn();
      return rung > before;
    });
  }

  static constexpr int size = 6;
  static inline int ports_ = 0;
  int port_ = 0;
  const fs::path folder_ = fs::path(testing::TempDir()) / ("bell." + std::to_string(getpid()));
  std::atomic<int> rung1_{0};
  std::atomic<int> rung2_{0};
  std::atomic<int> rung3_{0};
};

TEST_F(Job, FindsARankAmongTheHostsAndThenRingsThereAlone) {
  const auto one = bell(0, 1, rung1_);
  const auto two = bell(1, 2, rung2_);
  const auto three = bell(5, 3, rung3_);
  ASSERT_TRUE(reaches(*one, 5, rung3_));
  ASSERT_TRUE(eventually([&] {
    one->turn();
    one->ring(5);
    return three->counts().taken >= 5;
  }));
  EXPECT_EQ(rung2_, 0);
  EXPECT_LE(two->counts().refused, 3U) << "asked once or so, and not when it was known";
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

TEST_F(Job, AsksARankThatHasNoEngineAFewTimesAndNeverAgain) {
  const auto one = bell(0, 1, rung1_);
  const auto two = bell(1, 2, rung2_);
  for (int i = 0; i < 400; ++i) {
    one->ring(4);
    one->turn();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  EXPECT_LE(one->counts().sent, 9U);
  EXPECT_EQ(rung2_, 0);
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

// By default: only where the launcher names hosts, and more than one. No key is made, nothing is written.
TEST_F(Job, ThatNobodyAskedForNeedsHosts) {
  for (const auto& [hosts, says] : {std::pair{std::vector<std::string>{}, "names no hosts"},
                                    std::pair{std::vector<std::string>{"alone"}, "on one host"}}) {
    BellPlan plan;
    plan.size = size;
    plan.job = "job";
    plan.key_file = folder_ / "bell.key";
    plan.port = port_;
    plan.hosts = [hosts] { return hosts; };
    plan.asked_for = false;
    Bell bell(plan, [](int) { return true; });
    bell.ring(1);
    bell.start();
    EXPECT_NE(bell.counts().state.find(says), std::string::npos) << bell.counts().state;
    bell.ring(1);
    bell.turn();
    EXPECT_EQ(bell.counts().sent, 0U);
    EXPECT_FALSE(bell.counts().keeps);
    EXPECT_FALSE(fs::exists(folder_));
    plan.hosts = [] { return std::vector<std::string>{node(1), node(2)}; };
    plan.address = inet_addr(node(1).c_str());
    Bell known(plan, [](int) { return true; });
    known.start();
    EXPECT_EQ(known.counts().state, "rings");
    known.stop();
    fs::remove_all(folder_);
  }
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

// ---- what a network or an enemy does to datagrams

class Attack : public Job {
 protected:
  void SetUp() override {
    Job::SetUp();
    key_ = {11, 12};
    keeper_ = BellKeeper::try_to_keep(inet_addr(node(1).c_str()), static_cast<in_port_t>(port_), key_, size,
                                      [this](const BellMessage& message, const sockaddr_in&) {
                                        if (message.sequence <= recorded_rings) ++recorded_heard_;
                                        return ++rung1_ > 0;
                                      });
    ASSERT_TRUE(keeper_);
    socket_ = socket(AF_INET, SOCK_DGRAM, 0);
    to_.sin_family = AF_INET;
    to_.sin_port = htons(static_cast<in_port_t>(port_));
    to_.sin_addr.s_addr = inet_addr(node(1).c_str());
  }
  void TearDown() override {
    close(socket_);
    Job::TearDown();
  }
  void send(std::span<const std::byte> bytes) const {
    sendto(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to_), sizeof to_);
  }
  std::uint64_t heard() const { return keeper_->taken() + keeper_->refused(); }

  // As many datagrams as `count`, as fast as they go, each made by `make(i)`.
  template <typename Make>
  void flood(int count, Make&& make) {
    const auto wakes = keeper_->wakes();
    const Nanoseconds begin = now();
    for (int i = 0; i < count; ++i) send(make(i));
    const auto milliseconds = static_cast<std::uint64_t>((now() - begin) / microseconds(1000));
    EXPECT_LE(keeper_->wakes() - wakes, 64 + milliseconds + 20) << "in " << milliseconds << " ms";
    // It is still there for those who may ring. What was queued before is dropped or refused.
    const int before = rung1_;
    EXPECT_TRUE(eventually([&] {
      send(seal({BellWord::ring, 1, 0, ++sequence_}, key_));
      return rung1_ > before;
    }));
  }

  void flood_with_all_kinds(int count) {
    std::mt19937_64 random(1);
    flood(count, [&](int i) {
      auto datagram = seal({BellWord::ring, 1, 0, static_cast<std::uint64_t>(i)}, {random(), random()});
      if (i % 3 == 0)
        for (auto& byte : datagram) byte = static_cast<std::byte>(random());
      return datagram;
    });
  }

  static constexpr std::uint64_t recorded_rings = 200;
  std::atomic<std::uint64_t> recorded_heard_{0};
  SipKey key_{};
  std::unique_ptr<BellKeeper> keeper_;
  int socket_ = -1;
  sockaddr_in to_{};
  std::uint64_t sequence_ = 1'000'000'000;
};

TEST_F(Attack, DoubledAndForgedAndForeignOnesRingNobody) {
  const auto ring = seal({BellWord::ring, 1, 0, 7}, key_);
  for (int i = 0; i < 10; ++i) send(ring);
  send(seal({BellWord::ring, 1, 0, 8}, {11, 13}));
  send(seal({BellWord::ring, size, 0, 9}, key_));  // from no rank
  send(seal({BellWord::ring, 1, size, 9}, key_));  // to none
  send(seal({BellWord::here, 1, 0, 9}, key_));
  send({});
  const std::vector<std::byte> large(9000);
  send(large);
  ASSERT_TRUE(eventually([&] { return heard() == 16; }));
  EXPECT_EQ(keeper_->taken(), 1U);
  EXPECT_EQ(rung1_, 1);
}

TEST_F(Attack, ReplayedOnesRingNobody) {
  std::vector<Datagram> recorded;
  for (std::uint64_t i = 1; i <= recorded_rings; ++i) recorded.push_back(seal({BellWord::ring, 1, 0, i}, key_));
  for (const auto& datagram : recorded) {
    const auto before = heard();
    send(datagram);
    ASSERT_TRUE(eventually([&] { return heard() > before; }));
  }
  EXPECT_EQ(recorded_heard_, recorded_rings);
  flood(2000, [&](int i) { return recorded[static_cast<std::size_t>(i) % recorded.size()]; });
  EXPECT_EQ(recorded_heard_, recorded_rings) << "once each";
}

TEST_F(Attack, AFloodCostsABoundedNumberOfWakes) { flood_with_all_kinds(50'000); }

// The same with a million: with BELL_FLOOD set, by `./bench test --full`.
TEST_F(Attack, AMillionDoTheSame) {
  if (!std::getenv("BELL_FLOOD")) GTEST_SKIP() << "takes seconds: BELL_FLOOD is not set";
  flood_with_all_kinds(1'000'000);
}

}  // namespace
}  // namespace progress_engine
