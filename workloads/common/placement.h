// SPDX-License-Identifier: BSD-3-Clause
// Where a rank and its threads run; records say what was observed, never what was asked.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace workloads {

/// CPUs on which the calling thread may run, ascending (sched_getaffinity).
std::vector<int> allowed_cpus();

/// Keeps the calling thread on these CPUs. False if it may run on none of them.
bool bind_this_thread(const std::vector<int>& cpus) noexcept;

/// CPU on which the calling thread runs at this moment.
int current_cpu() noexcept;

std::string host_name();

}  // namespace workloads
