// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace progress_engine::offload {

struct Process;
extern std::atomic<Process*> active_process __attribute__((visibility("hidden")));

// Whether calls go to the communication thread: one load in every interposed call.
inline bool active() { return active_process.load(std::memory_order_acquire) != nullptr; }
// Only while they do.
inline Process& process() { return *active_process.load(std::memory_order_acquire); }

}  // namespace progress_engine::offload
