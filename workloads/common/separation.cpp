// SPDX-License-Identifier: BSD-3-Clause
#include "common/separation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "common/machine.h"
#include "common/mpi_process.h"

namespace workloads {
namespace {

/// The CPUs of a list as the kernel writes it: "0-3,8".
std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  for (const char *place = text.data(), *end = place + text.size(); place < end;) {
    int first = 0;
    place = std::from_chars(place, end, first).ptr;
    int last = first;
    if (place < end && *place == '-') {
      place = std::from_chars(place + 1, end, last).ptr;
    }
    for (int cpu = first; cpu <= last; ++cpu) {
      cpus.push_back(cpu);
    }
    ++place;  // the comma
  }
  return cpus;
}

/// The hardware threads of the core that `cpu` is one of.
std::vector<int> core_of(int cpu) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  std::string line;
  return std::getline(file, line) ? parse_cpu_list(line) : std::vector<int>{cpu};
}

bool among(const std::vector<int>& cpus, int cpu) { return std::ranges::find(cpus, cpu) != cpus.end(); }

/// This rank's CPU: ranks of a node that may run on the same CPUs take different ones.
int own_cpu(const std::vector<int>& allowed) {
  const auto [rank, ranks] = place_on_node();
  return allowed[static_cast<std::size_t>(rank) * allowed.size() / static_cast<std::size_t>(ranks)];
}

cpu_set_t set_of(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  return set;
}

/// The CPUs for the other threads; none if there are no such CPUs.
std::vector<int> cpus_beside(int own, const std::vector<int>& allowed, const std::string& placement) {
  if (placement == "shared") {
    return {own};
  }
  const auto core = core_of(own);
  const bool sibling = placement == "smt-sibling";
  std::vector<int> found;
  std::ranges::copy_if(allowed, std::back_inserter(found),
                       [&](int cpu) { return cpu != own && among(core, cpu) == sibling; });
  return found;
}

}  // namespace

Parameter separation_parameter() {
  return choice_parameter(
      "placement", {"free", "shared", "smt-sibling", "dedicated"},
      "where threads that progress communication run: as found, on the rank's own CPU, on a hardware thread "
      "of the same core, on other cores",
      "free");
}

Separation::Separation(const std::string& placement) {
  const auto allowed = allowed_cpus();
  if (placement == "free" || allowed.empty()) {
    return;
  }
  const int own = own_cpu(allowed);
  const auto others = cpus_beside(own, allowed, placement);
  if (others.empty()) {
    problem_ = fmt::format("placement {} is not possible: this rank may use {} CPU{} and none of them is {}", placement,
                           allowed.size(), allowed.size() == 1 ? "" : "s",
                           placement == "dedicated" ? "on another core" : "another hardware thread of its core");
    return;
  }
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const int thread = std::stoi(task.path().filename());
    bind(thread, set_of(thread == gettid() ? std::vector<int>{own} : others));
  }
}

void Separation::bind(int thread, const cpu_set_t& cpus) {
  cpu_set_t found;
  if (sched_getaffinity(thread, sizeof found, &found) != 0) {
    return;  // it has ended meanwhile
  }
  before_[thread] = found;
  if (sched_setaffinity(thread, sizeof cpus, &cpus) != 0 && errno != ESRCH) {
    problem_ = fmt::format("a thread could not be bound: {}", std::strerror(errno));
  }
}

Separation::~Separation() {
  for (const auto& [thread, cpus] : before_) {
    sched_setaffinity(thread, sizeof cpus, &cpus);
  }
}

}  // namespace workloads
