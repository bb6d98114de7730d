// SPDX-License-Identifier: BSD-3-Clause
// Where a rank runs, as observed, never as asked.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace workloads {

/// CPUs on which the calling thread may run, ascending (sched_getaffinity).
std::vector<int> allowed_cpus();

/// CPU on which the calling thread runs at this moment.
int current_cpu() noexcept;

std::string host_name();

}  // namespace workloads
