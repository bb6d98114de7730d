// SPDX-License-Identifier: BSD-3-Clause
#include "interference/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace workloads {
namespace {

bool same_core(const CpuPlace& a, const CpuPlace& b) { return a.package == b.package && a.core == b.core; }

struct NamedPlacement {
  std::string_view name;
  bool (*holds)(const CpuPlace& victim, const CpuPlace& waiting);
};

constexpr std::array<NamedPlacement, 4> placements{{
    {.name = "same-core", .holds = [](const CpuPlace& a, const CpuPlace& b) { return a.cpu == b.cpu; }},
    {.name = "smt-sibling",
     .holds = [](const CpuPlace& a, const CpuPlace& b) { return a.cpu != b.cpu && same_core(a, b); }},
    {.name = "same-l3",
     .holds = [](const CpuPlace& a,
                 const CpuPlace& b) { return !same_core(a, b) && a.package == b.package && a.l3 == b.l3; }},
    {.name = "other-socket", .holds = [](const CpuPlace& a, const CpuPlace& b) { return a.package != b.package; }},
}};

/// `usual` where the file cannot be read.
template <class Value>
Value first_word(const std::filesystem::path& path, const Value& usual) {
  std::ifstream file(path);
  Value value;
  return file >> value ? value : usual;
}

}  // namespace

std::vector<CpuPlace> cpu_places(const std::vector<int>& cpus, const std::filesystem::path& sysfs) {
  std::vector<CpuPlace> places;
  for (const int cpu : cpus) {
    const auto folder = sysfs / fmt::format("cpu{}", cpu);
    places.push_back({
        .cpu = cpu,
        .package = first_word(folder / "topology/physical_package_id", 0),
        .core = first_word(folder / "topology/core_id", cpu),
        .l3 = first_word<std::string>(folder / "cache/index3/shared_cpu_list", ""),
    });
  }
  return places;
}

std::span<const std::string_view> placement_names() noexcept {
  static const auto names = [] {
    std::array<std::string_view, placements.size()> list;
    std::ranges::transform(placements, list.begin(), &NamedPlacement::name);
    return list;
  }();
  return names;
}

std::optional<ThreadCpus> find_cpus(std::string_view placement, const std::vector<CpuPlace>& places,
                                    bool with_partner) {
  const auto& wanted = *std::ranges::find(placements, placement, &NamedPlacement::name);
  for (const CpuPlace& victim : places) {
    for (const CpuPlace& waiting : places) {
      if (!wanted.holds(victim, waiting)) {
        continue;
      }
      const auto partner = std::ranges::find_if(
          places, [&](const CpuPlace& place) { return !same_core(place, victim) && !same_core(place, waiting); });
      if (!with_partner || partner != places.end()) {
        return ThreadCpus{.victim = victim.cpu, .waiting = waiting.cpu, .partner = with_partner ? partner->cpu : -1};
      }
    }
  }
  return std::nullopt;
}

}  // namespace workloads
