// SPDX-License-Identifier: BSD-3-Clause
// How the kernel schedules an engine thread.
#pragma once

#include <optional>

#include "core/clock.hpp"

namespace progress_engine {

struct Scheduling {
  bool idle_class = false;  // SCHED_IDLE
  int slice_us = 0;         // 0: the scheduler's own
  int nice = 0;
};

// Applies to the calling thread and sets its timer slack to 1 ns. Returns the slice as the kernel says it is
// (sched_getattr), none where the kernel does not know slices. What the kernel refuses is left as it was.
std::optional<Nanoseconds> schedule_this_thread(const Scheduling& wanted);

// The slice that a normal thread gets when it asks for `wanted`; tried on a thread of its own.
std::optional<Nanoseconds> probe_slice(Nanoseconds wanted);

}  // namespace progress_engine
