// SPDX-License-Identifier: BSD-3-Clause
// What disturbed a rank while it measured. Read from /proc/stat, whose clock ticks 100 times a second.
#pragma once

#include <istream>
#include <vector>

#include "common/json.h"

namespace workloads {

/// Seconds since boot, over the CPUs on which this rank may run, and the application thread's involuntary switches.
struct Noise {
  double steal_s = 0;    ///< taken by the hypervisor
  double softirq_s = 0;  ///< spent in the kernel's soft interrupts, the network's among them
  long involuntary_switches = 0;
};

/// Steal and softirq of `cpus` from the text of /proc/stat.
Noise parse_proc_stat(std::istream& text, const std::vector<int>& cpus, double ticks_per_second);

/// As it is now, of the calling thread (switches) and of `cpus`.
Noise read_noise(const std::vector<int>& cpus);

/// As `noise` of the record schema.
Json noise_between(const Noise& begin, const Noise& end);

}  // namespace workloads
