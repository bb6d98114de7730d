// SPDX-License-Identifier: BSD-3-Clause
// Where two threads that may disturb each other run, and a third one that must not.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace workloads {

/// A CPU as the system describes it. `l3`: the CPUs that share its last level cache, in words; empty if unknown.
struct CpuPlace {
  int cpu = 0;
  int package = 0;
  int core = 0;
  std::string l3;
};

/// These CPUs as sysfs describes them; where it says nothing each is a core of its own in one package.
std::vector<CpuPlace> cpu_places(const std::vector<int>& cpus,
                                 const std::filesystem::path& sysfs = "/sys/devices/system/cpu");

struct ThreadCpus {
  int victim = 0;
  int waiting = 0;
  int partner = 0;
};

/// "same-core" (both threads on one hardware thread), "smt-sibling", "same-l3" (another core), "other-socket".
std::span<const std::string_view> placement_names() noexcept;

/// CPUs for the three threads, the partner's on a core of its own where it is wanted here (`with_partner`). None if
/// these CPUs offer no such place.
std::optional<ThreadCpus> find_cpus(std::string_view placement, const std::vector<CpuPlace>& places, bool with_partner);

}  // namespace workloads
