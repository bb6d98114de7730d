// SPDX-License-Identifier: BSD-3-Clause
// On which CPUs an engine thread may run. Without hwloc, which must stay out of the preloaded library: masks and /proc
// tell enough.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace progress_engine {

using Cpus = std::vector<int>;  // the system's numbers, ascending

// "0-3,8" -> {0, 1, 2, 3, 8}, as in /sys and taskset. Empty if the text is no such list.
Cpus parse_cpu_list(std::string_view text);
std::string format_cpu_list(const Cpus& cpus);

// The CPUs of `own` that are left when this process and each neighbour (the CPUs it may use) takes one for itself: the
// most restricted first, so that whoever can go elsewhere does.
Cpus spare_cpus(const Cpus& own, const std::vector<Cpus>& neighbours);

// The CPUs that a thread (0: the calling one) may use.
Cpus allowed_cpus(int tid);
// The CPUs of the other processes on this node that run the same program, as far as /proc shows them.
std::vector<Cpus> cpus_of_neighbours();

// Binds the calling thread; false if the kernel refuses (CPUs that the process may not have).
bool bind_this_thread_to(const Cpus& cpus);

}  // namespace progress_engine
