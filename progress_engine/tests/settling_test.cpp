// SPDX-License-Identifier: BSD-3-Clause
#include "core/settling.hpp"

#include <gtest/gtest.h>

namespace progress_engine {
namespace {

constexpr Nanoseconds begin = microseconds(1);
constexpr Nanoseconds packed = begin + microseconds(200);
constexpr Nanoseconds late = begin + microseconds(5000);  // who waits leaves the engine's thread no CPU

// A poll finds the receives alone, and the sends are started after it; some may have completed when it shows.
void poll_too_early(Settling& settling, int times, int completed = 0) {
  for (int i = 0; i < times; ++i) {
    settling.polled({100, 40, 2}, begin);
    settling.looked({100, 40, 2}, 0, begin + microseconds(100));
    settling.looked({102, 42, 4 - completed}, packed, late);
  }
}

void poll_in_time(Settling& settling, int times) {
  for (int i = 0; i < times; ++i) {
    settling.polled({100, 40, 4}, begin);
    settling.looked({100, 40, 4}, 0, begin + microseconds(100));
    settling.looked({100, 40, 4}, 0, late);
  }
}

TEST(Settling, TakesLongerForAProgramThatPacksBetweenTwoStarts) {
  Settling settling;
  EXPECT_EQ(settling.time(), Settling::shortest);
  poll_too_early(settling, 1);
  poll_too_early(settling, 1, 1);
  EXPECT_EQ(settling.time(), 4 * Settling::shortest);
  poll_too_early(settling, 10);
  EXPECT_EQ(settling.time(), Settling::longest);
}

TEST(Settling, IsAsShortAsBeforeForWhoStartsAllAtOnce) {
  Settling settling;
  poll_too_early(settling, 10);
  poll_in_time(settling, 200);
  EXPECT_EQ(settling.time(), Settling::shortest);
}

// A pipeline: the next operation is started beside the one that the poll moved, after a computation.
TEST(Settling, IsNotForWhoComputesBetweenTwoStarts) {
  Settling settling;
  poll_too_early(settling, 10);
  for (int i = 0; i < 200; ++i) {
    settling.polled({100, 40, 1}, begin);
    settling.looked({101, 41, 2}, begin + microseconds(2000), late);
  }
  EXPECT_EQ(settling.time(), Settling::shortest);
}

// Of a collective operation the own part leaves with the start, whatever was answered before.
TEST(Settling, IsNotForCollectiveOperations) {
  Settling settling;
  for (int i = 0; i < 10; ++i) {
    settling.polled({100, 40, 1}, begin);
    settling.looked({101, 40, 2}, packed, late);
  }
  EXPECT_EQ(settling.time(), Settling::shortest);
}

// Who has waited for all that the poll found may have begun the next exchange.
TEST(Settling, LearnsNothingFromWhoWaits) {
  Settling settling;
  poll_too_early(settling, 3, 2);
  settling.polled({100, 40, 4}, begin);
  settling.looked({100, 40, 3}, packed, packed);
  settling.looked({109, 49, 9}, packed, late);
  EXPECT_EQ(settling.time(), Settling::shortest);
}

}  // namespace
}  // namespace progress_engine
