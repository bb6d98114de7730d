// SPDX-License-Identifier: BSD-3-Clause
// An asymmetric fence: the program's side, taken in every MPI call, costs nothing; the engine's side, taken only before
// it sleeps, interrupts the other cores (membarrier). Where the kernel has no membarrier both sides fence in full.
#pragma once

#include <atomic>

namespace progress_engine {

extern std::atomic<bool> light_fence_is_full __attribute__((visibility("hidden")));

// Registers the process; call once before the first heavy_fence.
void prepare_fences();
void heavy_fence();

inline void light_fence() {
  if (light_fence_is_full.load(std::memory_order_relaxed)) [[unlikely]]
    std::atomic_thread_fence(std::memory_order_seq_cst);
  else
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace progress_engine
