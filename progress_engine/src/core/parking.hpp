// SPDX-License-Identifier: BSD-3-Clause
// Where engine threads sleep until there is work. Ringing costs one load while nobody is parked.
//
// No wake-up is lost: the sleeper publishes that it parks, fences, and looks for work again; the ringer publishes its
// work, fences, and looks for a sleeper. Every sleep is bounded all the same. Any number may sleep and ring.
#pragma once

#include "core/atomics.hpp"

namespace progress_engine {

template <typename Atomics>
class BasicParking {
 public:
  // Sleeps until rung, unless `has_work()` holds; at most for `bound`. True if it really slept.
  template <typename HasWork>
  bool park(HasWork&& has_work, Nanoseconds bound) {
    const std::uint32_t seen = word_.fetch_or(parked, std::memory_order_relaxed) | parked;
    Atomics::heavy_fence();
    if (has_work()) return false;  // others may sleep here: the mark is the ringer's to take back
    Atomics::wait(word_, seen, bound);
    return true;
  }

  // The same, but without giving up the CPU: `wait(word, seen, bound)` waits for a store to the word
  // (wait/user_wait.hpp).
  template <typename HasWork, typename Wait>
  bool watch(HasWork&& has_work, Wait&& wait, Nanoseconds bound) {
    const std::uint32_t seen = word_.fetch_or(watched, std::memory_order_relaxed) | watched;
    Atomics::heavy_fence();
    if (has_work()) return false;
    wait(word_, seen, bound);
    return true;
  }

  // May be true when the last one has just left; false only if a ring would reach nobody.
  bool anyone() const { return (word_.load(std::memory_order_relaxed) & anybody) != 0; }

  // Publish the work (and light_fence) first.
  void ring() {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & anybody) != 0)
      if (word_.compare_exchange_weak(seen, (seen & ~anybody) + one_ring, std::memory_order_relaxed)) {
        if ((seen & parked) != 0) Atomics::wake(word_);  // the store alone wakes those who watch
        return;
      }
  }

 private:
  // The lowest bits; the others count the rings, so that one who is about to sleep sees that it was rung even if
  // another one has parked since.
  static constexpr std::uint32_t parked = 1;
  static constexpr std::uint32_t watched = 2;
  static constexpr std::uint32_t anybody = parked | watched;
  static constexpr std::uint32_t one_ring = anybody + 1;
  alignas(128) Atomics::Word word_{0};
};

using Parking = BasicParking<RealAtomics>;

}  // namespace progress_engine
