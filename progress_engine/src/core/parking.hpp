// SPDX-License-Identifier: BSD-3-Clause
// Where an engine thread sleeps until there is work. Ringing costs one load while nobody is parked.
//
// No wake-up is lost: the sleeper publishes that it parks, fences, and looks for work again; the ringer publishes its
// work, fences, and looks for a sleeper. Every sleep is bounded all the same.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/clock.hpp"
#include "core/fence.hpp"

namespace progress_engine {

// Sleeps while `word` is `expected`, at most for `timeout`.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Nanoseconds timeout);
void futex_wake(std::atomic<std::uint32_t>& word);

class Parking {
 public:
  // Sleeps until rung, unless `has_work()` holds; at most for `bound`. True if it really slept.
  template <typename HasWork>
  bool park(HasWork&& has_work, Nanoseconds bound) {
    word_.store(parked, std::memory_order_seq_cst);
    heavy_fence();
    const bool sleeps = !has_work();
    if (sleeps) futex_wait(word_, parked, bound);
    word_.store(awake, std::memory_order_relaxed);
    return sleeps;
  }

  bool anyone() const { return word_.load(std::memory_order_relaxed) == parked; }

  // Publish the work (and light_fence) first.
  void ring() {
    if (word_.exchange(awake) == parked) futex_wake(word_);
  }

 private:
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t parked = 1;
  alignas(128) std::atomic<std::uint32_t> word_{awake};
};

}  // namespace progress_engine
