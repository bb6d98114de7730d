// SPDX-License-Identifier: BSD-3-Clause
// What a network or an enemy does to the bell's datagrams.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "bell_job.hpp"

namespace progress_engine {
namespace {

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
