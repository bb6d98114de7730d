// SPDX-License-Identifier: BSD-3-Clause
// What a network or an enemy does to the bell's datagrams.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
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
    const auto woken = keeper_->wakes() - wakes;
    const auto milliseconds = static_cast<std::uint64_t>((now() - begin) / microseconds(1000));  // read last
    EXPECT_LE(woken, 64 + milliseconds + 20) << "in " << milliseconds << " ms";
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

// ---- the socket from which a bell asks, and where it hears answers

class AttackOnAnswers : public Job {
 protected:
  void SetUp() override {
    Job::SetUp();
    one_ = bell(0, 1, rung1_);
    two_ = bell(3, 2, rung2_);
    key_ = key_of_job(read_or_make_key(folder_ / "bell.key"), "job");
    socket_ = socket(AF_INET, SOCK_DGRAM, 0);
    const auto found = socket_of(1);
    ASSERT_TRUE(found);
    asks_ = *found;
  }
  void TearDown() override {
    close(socket_);
    Job::TearDown();
  }
  // The one on `node` that is no keeper's.
  std::optional<int> socket_of(int number) {
    for (int descriptor = 0; descriptor < 1024; ++descriptor) {
      sockaddr_in address{};
      socklen_t length = sizeof address;
      int type = 0;
      socklen_t size = sizeof type;
      if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_DGRAM) continue;
      if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) continue;
      if (address.sin_family != AF_INET || address.sin_addr.s_addr != inet_addr(node(number).c_str())) continue;
      if (address.sin_port == htons(static_cast<in_port_t>(port_))) continue;
      to_ = address;
      return descriptor;
    }
    return {};
  }
  void send(std::span<const std::byte> bytes) const {
    sendto(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to_), sizeof to_);
  }
  int queued() const {
    int bytes = 0;
    ioctl(asks_, FIONREAD, &bytes);
    return bytes;
  }

  std::unique_ptr<Bell> one_;
  std::unique_ptr<Bell> two_;
  SipKey key_{};
  int socket_ = -1;
  int asks_ = -1;
  sockaddr_in to_{};
};

// Who would be believed could have rings for rank 3 sent to himself: rank 3 would hear none.
TEST_F(AttackOnAnswers, NoForgedOrReplayedOneMovesAPartner) {
  ASSERT_TRUE(reaches(*one_, 3, rung2_));
  std::mt19937_64 random(2);
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 100; ++i) {
      Datagram datagram = seal({BellWord::here, 3, 0, random()}, {random(), random()});
      if (i % 4 == 0)
        for (auto& byte : datagram) byte = static_cast<std::byte>(random());
      send(std::span(datagram).first(i % 4 == 1 ? random() % datagram_size : datagram_size));
    }
    send({});
    send(std::vector<std::byte>(9000));
    send(seal({BellWord::here, 3, 0, 1}, key_));           // an old answer, played again
    send(seal({BellWord::here, 3, 0, ~0ULL}, key_));       // to a question that was never asked
    send(seal({BellWord::here, 4, 0, 1}, key_));           // from who was never asked
    send(seal({BellWord::here, 0xffffffff, 0, 1}, key_));  // from no rank
    send(seal({BellWord::here, 3, 1, 1}, key_));           // to another rank
    send(seal({BellWord::ring, 3, 0, 1}, key_));           // no answer
    one_->turn();
  }
  const int before = rung2_;
  EXPECT_TRUE(eventually([&] {
    one_->ring(3);
    one_->turn();
    return rung2_ > before;
  }));
  EXPECT_EQ(rung1_, 0) << "nor was anybody rung here";
}

TEST_F(AttackOnAnswers, ATurnReadsABoundedNumber) {
  const auto forged = seal({BellWord::here, 3, 0, 1}, {1, 2});
  const auto fill = [&] {
    for (int i = 0; i < 200; ++i) send(forged);
  };
  fill();
  ASSERT_GT(queued(), 0);
  one_->turn();
  EXPECT_GT(queued(), 0) << "64 were read of 200";
  // With many of them a true answer is found all the same.
  std::atomic<bool> over = false;
  std::jthread flooder([&] {
    while (!over) fill();
  });
  EXPECT_TRUE(reaches(*one_, 3, rung2_));
  const int before = rung2_;
  EXPECT_TRUE(eventually([&] {
    one_->ring(3);
    one_->turn();
    return rung2_ > before + 10;
  }));
  over = true;
}

}  // namespace
}  // namespace progress_engine
