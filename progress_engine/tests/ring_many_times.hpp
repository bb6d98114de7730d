// SPDX-License-Identifier: BSD-3-Clause
// A sleeper that is rung at random moments of its way to sleep: a lost ring would leave it asleep.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "eventually.hpp"

namespace progress_engine {

constexpr Nanoseconds for_ever = seconds(3600);  // the bound of its sleeps

struct Rings {
  std::atomic<int> sent{0};
  std::atomic<int> answered{0};
  std::atomic<bool> over{false};
  bool one_waits() const { return sent > answered || over; }
};

// As often as `rounds`, or as a busy machine manages in ten seconds.
inline void ring_many_times(int rounds, Rings& rings, const std::function<void()>& sleep,
                            const std::function<void()>& ring) {
  const std::jthread sleeper([&] {
    while (!rings.over) {
      sleep();
      if (rings.sent > rings.answered) ++rings.answered;
    }
  });
  bool lost = false;
  const Nanoseconds begin = now();
  for (int i = 1; i <= rounds && !lost && now() - begin < seconds(10); ++i) {
    rings.sent.store(i, std::memory_order_release);
    ring();
    const Nanoseconds rung = now();
    while (rings.answered < i && !lost) lost = now() - rung > patience;
  }
  EXPECT_FALSE(lost) << "after " << rings.answered;
  rings.over = true;
  ring();
}

}  // namespace progress_engine
