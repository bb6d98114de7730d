// SPDX-License-Identifier: BSD-3-Clause
// A line of shared memory with which the processes of a node wake one another's engine thread: its owner sleeps, the
// others ring when they have sent it something. (A progress thread cannot wait for the MPI's own words: they are out of
// reach. PSM2's rcvthread is the nearest relative.)
//
// Ringing is a store, a fence and, while the owner is awake, a load. No ring is lost: the owner says that it sleeps,
// fences, and looks whether it was rung; a ringer stores its ring, fences, and looks whether the owner sleeps. All
// sleeps are bounded even so, since a ringer may be killed between the two.
#pragma once

#include "core/atomics.hpp"

namespace progress_engine {

// What processes that share memory synchronise with; within one process RealAtomics does. Both sides fence in full: an
// asymmetric fence would let each sleeper interrupt every CPU on which the program runs (15 us here, and all others
// lose some), to save each ringer some 10 ns.
struct SharedAtomics : RealAtomics {
  static void light_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static void heavy_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static void wait(Word& word, std::uint32_t expected, Nanoseconds bound) { futex_wait_shared(word, expected, bound); }
  static void wake(Word& word) { futex_wake_shared(word); }
};

template <typename Atomics>
class alignas(128) BasicBell {
 public:
  // ---- by those who have published something for the owner. True if it slept and had to be woken; `wake_elsewhere`
  // ends its sleep on something else than this line.
  template <typename Wake>
  bool ring(Wake&& wake_elsewhere) {
    rung_.store(1, std::memory_order_release);
    Atomics::light_fence();
    if (asleep_.load(std::memory_order_relaxed) == awake) [[likely]]
      return false;
    const auto where = asleep_.exchange(awake, std::memory_order_acq_rel);  // one of many ringers wakes it
    if (where == here) Atomics::wake(asleep_);
    if (where == elsewhere) wake_elsewhere();
    return where != awake;
  }

  // ---- by the owner, one thread at a time
  bool rung() const { return rung_.load(std::memory_order_acquire) != 0; }
  // Before it looks for what was sent: true if it was rung since the last answer.
  bool answer() { return rung() && rung_.exchange(0, std::memory_order_seq_cst) != 0; }

  // Sleeps on the line until rung, at most for `bound`.
  void sleep(Nanoseconds bound) {
    lie_down(here, [&] { Atomics::wait(asleep_, here, bound); });
  }
  // The same in `wait()`, which whoever rings ends by its `wake_elsewhere`, even before it has begun.
  template <typename Wait>
  void sleep_elsewhere(Wait&& wait) {
    lie_down(elsewhere, wait);
  }
  // For waits in user mode: differs from 0 once rung.
  const Atomics::Word& word() const { return rung_; }

 private:
  template <typename Wait>
  void lie_down(std::uint32_t where, Wait&& wait) {
    asleep_.store(where, std::memory_order_relaxed);
    Atomics::heavy_fence();
    if (!rung()) wait();
    asleep_.store(awake, std::memory_order_relaxed);
  }

  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t here = 1;
  static constexpr std::uint32_t elsewhere = 2;
  Atomics::Word rung_{0};
  Atomics::Word asleep_{awake};
};

using Bell = BasicBell<SharedAtomics>;
static_assert(sizeof(Bell) == 128 && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace progress_engine
