// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/datagram.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace progress_engine {
namespace {

// The authors' vectors: the key is 00 01 .. 0f, the message the first bytes of 00 01 02 ...
TEST(SipHash, IsThatOfItsAuthors) {
  const SipKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::vector<std::byte> message(15);
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i);
  const auto of = [&](std::size_t length) { return siphash(key, std::span<const std::byte>(message).first(length)); };
  EXPECT_EQ(of(0), 0x726fdb47dd0e0e31);
  EXPECT_EQ(of(1), 0x74f839c593dc67fd);
  EXPECT_EQ(of(8), 0x93f5f5799a932462);
  EXPECT_EQ(of(15), 0xa129ca6149be45e5);
}

const SipKey of_user{1, 2};
const SipKey key = key_of_job(of_user, "job 1");
const BellMessage message{BellWord::ask, 3, 1'000'000, 0x0123456789abcdef};

TEST(Datagram, SaysWhatWasSealed) { EXPECT_EQ(unseal(seal(message, key), key), message); }

TEST(Datagram, EveryOtherBitIsAForgery) {
  for (std::size_t bit = 0; bit < 8 * datagram_size; ++bit) {
    auto datagram = seal(message, key);
    datagram[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(unseal(datagram, key)) << "bit " << bit;
  }
}

TEST(Datagram, OtherJobsAndUsersAreRefused) {
  const auto datagram = seal(message, key);
  EXPECT_FALSE(unseal(datagram, key_of_job(of_user, "job 2")));
  EXPECT_FALSE(unseal(datagram, key_of_job({1, 3}, "job 1")));
}

TEST(Datagram, WhatIsNoneIsRefused) {
  const auto datagram = seal(message, key);
  EXPECT_FALSE(unseal({}, key));
  for (std::size_t size = 0; size < datagram_size; ++size) EXPECT_FALSE(unseal(std::span(datagram).first(size), key));
  std::vector<std::byte> longer(datagram.begin(), datagram.end());
  longer.push_back({});
  EXPECT_FALSE(unseal(longer, key));
  EXPECT_FALSE(unseal(seal({static_cast<BellWord>(4), 0, 0, 1}, key), key)) << "a word of a later version";
}

TEST(ReplayWindow, TakesEachOnceWhateverTheOrder) {
  ReplayWindow window(2);
  for (const std::uint64_t number : {1000, 1003, 1001, 1002, 1100}) {
    EXPECT_TRUE(window.takes(0, number)) << number;
    EXPECT_FALSE(window.takes(0, number)) << number << " doubled";
  }
  EXPECT_TRUE(window.takes(0, 1037)) << "delayed";
  EXPECT_FALSE(window.takes(0, 1036)) << "so much that it may have been taken";
  EXPECT_FALSE(window.takes(0, 1001));
  EXPECT_TRUE(window.takes(1, 7)) << "each sender counts for itself";
  EXPECT_FALSE(window.takes(2, 7)) << "no rank of this program";
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
