// SPDX-License-Identifier: BSD-3-Clause
// What a thread has used, as the kernel counts it.
#pragma once

#include <cstdint>
#include <vector>

namespace progress_engine {

struct ThreadUsage {
  int tid = 0;
  std::vector<int> cpus_allowed;
  int cpu_last = -1;
  double cpu_seconds = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
};

// Of a thread of this process that still runs. What cannot be read stays at its initial value.
ThreadUsage usage_of_thread(int tid);

}  // namespace progress_engine
