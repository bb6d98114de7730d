// SPDX-License-Identifier: BSD-3-Clause
#include "core/settling.hpp"

#include <gtest/gtest.h>

namespace progress_engine {
namespace {

constexpr Nanoseconds soon = microseconds(400);

// A poll finds the receives alone, and the sends are started after it; some may have completed when it shows.
void poll_too_early(Settling& settling, int times, int completed = 0) {
  for (int i = 0; i < times; ++i) {
    settling.polled({100, 2}, microseconds(1));
    settling.looked({100, 2}, microseconds(1) + soon / 2);
    settling.looked({102, 4 - completed}, microseconds(1) + soon);
  }
}

void poll_in_time(Settling& settling, int times) {
  for (int i = 0; i < times; ++i) {
    settling.polled({100, 4}, microseconds(1));
    settling.looked({100, 4}, microseconds(1) + soon);
    settling.looked({100, 4}, microseconds(1) + 2 * Settling::longest);
  }
}

TEST(Settling, TakesLongerForAProgramThatPacksBetweenTwoStarts) {
  Settling settling;
  EXPECT_EQ(settling.time(), Settling::shortest);
  poll_too_early(settling, 2);
  poll_too_early(settling, 1, 1);
  EXPECT_EQ(settling.time(), 8 * Settling::shortest);
  poll_too_early(settling, 10);
  EXPECT_EQ(settling.time(), Settling::longest);
}

TEST(Settling, IsAsShortAsBeforeForWhoStartsAllAtOnce) {
  Settling settling;
  poll_too_early(settling, 10);
  poll_in_time(settling, 200);
  EXPECT_EQ(settling.time(), Settling::shortest);
}

// Who has waited for all that the poll found may have begun the next exchange.
TEST(Settling, LearnsNothingFromWhoWaits) {
  Settling settling;
  poll_too_early(settling, 3, 2);
  settling.polled({100, 4}, microseconds(1));
  settling.looked({100, 3}, microseconds(1) + soon);
  settling.looked({109, 9}, microseconds(1) + soon);
  EXPECT_EQ(settling.time(), Settling::shortest);
}

}  // namespace
}  // namespace progress_engine
