// SPDX-License-Identifier: BSD-3-Clause
// What the queues and the parking are built of. They take it as a template parameter, so that a test can run the very
// same code over a model of memory and try every interleaving (tests/model).
#pragma once

#include <atomic>
#include <cstdint>

#include "core/clock.hpp"
#include "core/fence.hpp"
#include "core/futex.hpp"

namespace progress_engine {

// The CPU's hint for loops that wait for another thread.
inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // longer than yield, which most cores ignore
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27" ::: "memory");
#endif
}

struct RealAtomics {
  template <typename T>
  using Atomic = std::atomic<T>;
  using Word = std::atomic<std::uint32_t>;

  // One round of a loop that waits for another thread; `rounds` counts them. The other may have lost its core.
  static void relax(int rounds);
  static void light_fence() { progress_engine::light_fence(); }
  static void heavy_fence() { progress_engine::heavy_fence(); }
  static void full_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static void wait(Word& word, std::uint32_t expected, Nanoseconds bound) { futex_wait(word, expected, bound); }
  static void wake(Word& word) { futex_wake(word); }
  // Tells threads apart; never 0.
  static std::uintptr_t this_thread() {
    static thread_local char self;
    return reinterpret_cast<std::uintptr_t>(&self);
  }
};

}  // namespace progress_engine
