// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <ctime>

namespace progress_engine {

using Nanoseconds = std::int64_t;

constexpr Nanoseconds microseconds(std::int64_t count) { return count * 1000; }
constexpr Nanoseconds seconds(std::int64_t count) { return count * 1'000'000'000; }

inline timespec to_timespec(Nanoseconds time) { return {time / seconds(1), time % seconds(1)}; }

// Monotonic time; the vDSO makes it a matter of some 20 ns, no system call.
inline Nanoseconds now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

// A system call.
inline Nanoseconds cpu_time_of_this_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

// Of all threads; a system call.
inline Nanoseconds cpu_time_of_this_process() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

}  // namespace progress_engine
