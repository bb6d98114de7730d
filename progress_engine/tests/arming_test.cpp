// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "core/event_loop.hpp"

namespace progress_engine {
namespace {

constexpr Nanoseconds first = microseconds(10'000);
constexpr Nanoseconds longest = microseconds(160'000);
constexpr Nanoseconds much = microseconds(500);
constexpr Nanoseconds little = microseconds(10);

void busy_periods(Arming& arming, int count, Nanoseconds gained, Nanoseconds taken) {
  for (int i = 0; i < count; ++i) arming.settle(gained, taken);
}

TEST(Arming, StaysArmedWhileBusyPeriodsPay) {
  Arming arming(first, longest);
  busy_periods(arming, 1000, much, little);
  EXPECT_TRUE(arming.armed());
}

TEST(Arming, DisarmsAfterManyBusyPeriodsThatDoNotPay) {
  Arming arming(first, longest);
  busy_periods(arming, 50, 0, little);
  EXPECT_TRUE(arming.armed());
  busy_periods(arming, 1, 0, little);
  EXPECT_FALSE(arming.armed());
}

// Many small exchanges that the program waits for at once, and now and then a message that is worth it.
TEST(Arming, OneBusyPeriodThatPaysMakesUpForMany) {
  Arming arming(first, longest);
  for (int i = 0; i < 1000; ++i) {
    busy_periods(arming, 1, much, little);
    busy_periods(arming, 20, 0, little);
    EXPECT_TRUE(arming.armed());
  }
}

TEST(Arming, ForgetsAGoodPast) {
  Arming arming(first, longest);
  busy_periods(arming, 100'000, much, little);
  busy_periods(arming, 1000, 0, little);
  EXPECT_FALSE(arming.armed());
}

TEST(Arming, RestsEverLongerWhileTriesGainNothing) {
  Arming arming(first, longest);
  busy_periods(arming, 51, 0, little);
  EXPECT_EQ(arming.backoff(), first);
  for (int i = 0; i < 10; ++i) {
    arming.backoff_ended();
    EXPECT_TRUE(arming.armed());
    busy_periods(arming, 51, 0, little);
    EXPECT_FALSE(arming.armed());
  }
  EXPECT_EQ(arming.backoff(), longest);
}

// The try's first busy period may be one of those that gain nothing.
TEST(Arming, ATryIsMoreThanOneBusyPeriod) {
  Arming arming(first, longest);
  busy_periods(arming, 51, 0, little);
  arming.backoff_ended();
  busy_periods(arming, 1, 0, 10 * little);
  EXPECT_TRUE(arming.armed());
  busy_periods(arming, 4, much, little);
  EXPECT_TRUE(arming.armed());
  EXPECT_EQ(arming.backoff(), first);
}

}  // namespace
}  // namespace progress_engine
