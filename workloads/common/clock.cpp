// SPDX-License-Identifier: BSD-3-Clause
#include "common/clock.h"

#include <ctime>
#include <limits>
#include <thread>

namespace workloads {
namespace {

double read(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  constexpr double seconds_per_nanosecond = 1e-9;
  return static_cast<double>(now.tv_sec) + seconds_per_nanosecond * static_cast<double>(now.tv_nsec);
}

}  // namespace

void spin_for(double duration_s) noexcept {
  const auto begin = Clock::now();
  while (seconds_since(begin) < duration_s) {
  }
}

void sleep_for(double duration_s) noexcept {
  const std::chrono::duration<double> length(duration_s);
  std::this_thread::sleep_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(length));
}

double measured_clock_resolution_s() {
  constexpr int steps = 2000;
  double smallest = std::numeric_limits<double>::max();
  for (int step = 0; step < steps; ++step) {
    const auto begin = Clock::now();
    auto end = Clock::now();
    while (end == begin) {
      end = Clock::now();
    }
    smallest = std::min(smallest, seconds_between(begin, end));
  }
  return smallest;
}

double process_cpu_s() noexcept { return read(CLOCK_PROCESS_CPUTIME_ID); }

double thread_cpu_s() noexcept { return read(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace workloads
