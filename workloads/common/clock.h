// SPDX-License-Identifier: BSD-3-Clause
// Time. All durations are in seconds. steady_clock is Linux's CLOCK_MONOTONIC, read without a system call; MPI_Wtime is
// not used, because some MPI libraries still take it from gettimeofday. Built for SMPI, time is what SMPI simulates.
#pragma once

#include <chrono>

namespace workloads {

#ifdef WORKLOADS_SMPI
inline constexpr bool time_is_simulated = true;

/// It stands still while the program computes, and goes on in MPI's calls and sleep.
struct Clock {
  using duration = std::chrono::duration<double>;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};
#else
inline constexpr bool time_is_simulated = false;
using Clock = std::chrono::steady_clock;
#endif

inline double seconds_between(Clock::time_point begin, Clock::time_point end) noexcept {
  return std::chrono::duration<double>(end - begin).count();
}

inline double seconds_since(Clock::time_point begin) noexcept { return seconds_between(begin, Clock::now()); }

/// Busy for `duration_s`, without giving the core away.
void spin_for(double duration_s) noexcept;

/// The calling thread sleeps, and its core is free.
void sleep_for(double duration_s) noexcept;

/// Smallest step that consecutive readings of the clock show.
double measured_clock_resolution_s();

/// CPU time of all threads of this process.
double process_cpu_s() noexcept;

/// CPU time of the calling thread.
double thread_cpu_s() noexcept;

}  // namespace workloads
