// SPDX-License-Identifier: BSD-3-Clause
#include "ult/team.h"

#include <algorithm>
#include <latch>
#include <thread>

#include "common/clock.h"

namespace workloads {

// On one CPU the caller may not run again before they have ended: it cannot tell when they began.
double run_kernel_threads(std::size_t count, const Body& body) {
  std::latch all_there(static_cast<std::ptrdiff_t>(count));
  std::vector<Clock::time_point> begins(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      all_there.arrive_and_wait();
      begins[i] = Clock::now();
      body(i);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  return seconds_since(*std::ranges::min_element(begins));
}

}  // namespace workloads
