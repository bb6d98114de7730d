// SPDX-License-Identifier: BSD-3-Clause
// Time. All durations are in seconds. steady_clock is Linux's CLOCK_MONOTONIC, read without a system call; MPI_Wtime is
// not used, because some MPI libraries still take it from gettimeofday.
#pragma once

#include <chrono>

namespace workloads {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point begin, Clock::time_point end) noexcept {
  return std::chrono::duration<double>(end - begin).count();
}

inline double seconds_since(Clock::time_point begin) noexcept { return seconds_between(begin, Clock::now()); }

/// Busy for `duration_s`, without giving the core away.
void spin_for(double duration_s) noexcept;

/// Smallest step that consecutive readings of the clock show.
double measured_clock_resolution_s();

/// CPU time of all threads of this process.
double process_cpu_s() noexcept;

/// CPU time of the calling thread.
double thread_cpu_s() noexcept;

}  // namespace workloads
