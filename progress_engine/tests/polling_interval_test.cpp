// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "core/event_loop.hpp"

namespace progress_engine {
namespace {

constexpr Nanoseconds minimum = microseconds(100);
constexpr Nanoseconds start = microseconds(500);
constexpr Nanoseconds maximum = microseconds(4000);

// A network that fills wakes in proportion to the time between them.
Nanoseconds settle(PollingInterval& distance, double busy_share) {
  for (int i = 0; i < 100; ++i) {
    const auto moved = static_cast<Nanoseconds>(busy_share * static_cast<double>(distance.current()));
    distance.after_wake({.productive_time = moved, .idle_time = microseconds(2)});
  }
  return distance.current();
}

TEST(PollingInterval, BeginsShortAndStaysInItsBounds) {
  PollingInterval distance(minimum, start, maximum);
  EXPECT_EQ(distance.current(), start);
  EXPECT_EQ(settle(distance, 0.00001), start);  // too little moved to learn from
  EXPECT_EQ(settle(distance, 0.06), maximum);
  for (int i = 0; i < 50; ++i) distance.after_wake({.late = true});
  EXPECT_EQ(distance.current(), minimum);
  distance.reset();
  EXPECT_EQ(distance.current(), start);
}

TEST(PollingInterval, IsShorterOnAFasterNetwork) {
  PollingInterval slow(minimum, start, maximum);
  PollingInterval fast(minimum, start, maximum);
  EXPECT_GT(settle(slow, 0.1), 2 * settle(fast, 0.5));
}

TEST(PollingInterval, SettlesWhereAWakeIsWorthItsPrice) {
  PollingInterval distance(minimum, start, maximum);
  const double share = 0.2;
  const double moved = share * static_cast<double>(settle(distance, share));
  EXPECT_NEAR(moved, 16.0 * 22000, 0.2 * 16 * 22000);  // price: 20 us of sleep and wake + 2 us of idle polls
}

TEST(PollingInterval, HalvesWhenItCameLate) {
  PollingInterval distance(minimum, start, maximum);
  settle(distance, 0.06);
  distance.after_wake({.productive_time = microseconds(10), .late = true});
  EXPECT_EQ(distance.current(), maximum / 2);
}

// Its start serves a handshake; the first wake that moves data finds the distance where the last busy period left it.
TEST(PollingInterval, RemembersWhatTheLastBusyPeriodLearnt) {
  PollingInterval distance(minimum, start, maximum);
  settle(distance, 0.06);
  distance.reset();
  EXPECT_EQ(distance.current(), start);
  distance.after_wake({.idle_time = microseconds(2)});
  EXPECT_EQ(distance.current(), start);
  distance.after_wake({.productive_time = microseconds(30), .idle_time = microseconds(2)});
  EXPECT_GT(distance.current(), start * 3 / 2);
}

// Near what happened last an answer is likely; a long message's end is found late by a share of its time at most.
TEST(UnannouncedInterval, GrowsWithTheTimeSinceTheLastEvent) {
  UnannouncedInterval interval(minimum, start, maximum);
  interval.event(0);
  Nanoseconds time = 0;
  Nanoseconds longest = 0;
  int polls = 0;
  while (time < microseconds(100'000)) {
    const Nanoseconds next = interval.next(time);
    EXPECT_LE(next, std::max(start, time / 4));
    EXPECT_GE(next, minimum);
    EXPECT_GE(next, longest);
    longest = next;
    time += next;
    ++polls;
  }
  EXPECT_EQ(longest, maximum);
  EXPECT_LT(polls, 50);
  interval.event(time);
  EXPECT_EQ(interval.next(time), minimum);
  EXPECT_EQ(interval.next(time + minimum), 2 * minimum);
}

TEST(PollingInterval, KeepsItsBoundsWhenTheyAreEqual) {
  PollingInterval distance(maximum, start, maximum);
  EXPECT_EQ(distance.current(), maximum);
  distance.after_wake({.late = true});
  EXPECT_EQ(distance.current(), maximum);
}

}  // namespace
}  // namespace progress_engine
