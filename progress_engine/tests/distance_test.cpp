// SPDX-License-Identifier: BSD-3-Clause
#include "core/distance.hpp"

#include <gtest/gtest.h>

namespace progress_engine {
namespace {

constexpr Nanoseconds minimum = microseconds(100);
constexpr Nanoseconds start = microseconds(500);
constexpr Nanoseconds maximum = microseconds(4000);

// A network that fills wakes in proportion to the time between them.
Nanoseconds settle(WakeDistance& distance, double busy_share) {
  for (int i = 0; i < 100; ++i) {
    const auto moved = static_cast<Nanoseconds>(busy_share * static_cast<double>(distance.current()));
    distance.after_wake({.productive_time = moved, .idle_time = microseconds(2)});
  }
  return distance.current();
}

TEST(WakeDistance, BeginsShortAndStaysInItsBounds) {
  WakeDistance distance(minimum, start, maximum);
  EXPECT_EQ(distance.current(), start);
  EXPECT_EQ(settle(distance, 0.00001), start);  // too little moved to learn from
  EXPECT_EQ(settle(distance, 0.06), maximum);
  for (int i = 0; i < 50; ++i) distance.after_wake({.late = true});
  EXPECT_EQ(distance.current(), minimum);
  distance.reset();
  EXPECT_EQ(distance.current(), start);
}

TEST(WakeDistance, IsShorterOnAFasterNetwork) {
  WakeDistance slow(minimum, start, maximum);
  WakeDistance fast(minimum, start, maximum);
  EXPECT_GT(settle(slow, 0.1), 2 * settle(fast, 0.5));
}

TEST(WakeDistance, SettlesWhereAWakeIsWorthItsPrice) {
  WakeDistance distance(minimum, start, maximum);
  const double share = 0.2;
  const double moved = share * static_cast<double>(settle(distance, share));
  EXPECT_NEAR(moved, 16.0 * 22000, 0.2 * 16 * 22000);  // price: 20 us of sleep and wake + 2 us of idle polls
}

TEST(WakeDistance, HalvesWhenItCameLate) {
  WakeDistance distance(minimum, start, maximum);
  settle(distance, 0.06);
  distance.after_wake({.productive_time = microseconds(10), .late = true});
  EXPECT_EQ(distance.current(), maximum / 2);
}

// Its start serves a handshake; the first wake that moves data finds the distance where the last phase left it.
TEST(WakeDistance, RemembersWhatTheLastPhaseLearnt) {
  WakeDistance distance(minimum, start, maximum);
  settle(distance, 0.06);
  distance.reset();
  EXPECT_EQ(distance.current(), start);
  distance.after_wake({.idle_time = microseconds(2)});
  EXPECT_EQ(distance.current(), start);
  distance.after_wake({.productive_time = microseconds(30), .idle_time = microseconds(2)});
  EXPECT_GT(distance.current(), start * 3 / 2);
}

TEST(WakeDistance, KeepsItsBoundsWhenTheyAreEqual) {
  WakeDistance distance(maximum, start, maximum);
  EXPECT_EQ(distance.current(), maximum);
  distance.after_wake({.late = true});
  EXPECT_EQ(distance.current(), maximum);
}

}  // namespace
}  // namespace progress_engine
