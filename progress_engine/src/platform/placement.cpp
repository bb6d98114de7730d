// SPDX-License-Identifier: BSD-3-Clause
#include "platform/placement.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>

namespace progress_engine {
namespace {

std::optional<int> parse_number(std::string_view text) {
  int number = 0;
  const char* begin = std::to_address(text.begin());
  const char* end = std::to_address(text.end());
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stop != end || number < 0) return {};
  return number;
}

// One CPU for one process: the first of its own that nobody has taken.
void take_one(const Cpus& from, Cpus& taken) {
  const auto free = std::ranges::find_if(from, [&](int cpu) { return std::ranges::count(taken, cpu) == 0; });
  if (free != from.end()) taken.push_back(*free);
}

bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

Cpus parse_cpu_list(std::string_view text) {
  Cpus cpus;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    const auto dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= CPU_SETSIZE) return {};
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  std::ranges::sort(cpus);
  const auto again = std::ranges::unique(cpus);
  cpus.erase(again.begin(), again.end());
  return cpus;
}

std::string format_cpu_list(const Cpus& cpus) { return fmt::format("{}", fmt::join(cpus, ",")); }

Cpus spare_cpus(const Cpus& own, const std::vector<Cpus>& neighbours) {
  std::vector<Cpus> processes = neighbours;
  processes.push_back(own);
  std::ranges::stable_sort(processes, {}, &Cpus::size);
  Cpus taken;
  for (const auto& cpus : processes) take_one(cpus, taken);
  Cpus spare;
  std::ranges::copy_if(own, std::back_inserter(spare), [&](int cpu) { return std::ranges::count(taken, cpu) == 0; });
  return spare;
}

Cpus allowed_cpus(int tid) {
  cpu_set_t set;
  Cpus cpus;
  if (sched_getaffinity(tid, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

std::vector<Cpus> cpus_of_neighbours() {
  std::vector<Cpus> found;
  struct stat own{};
  if (stat("/proc/self/exe", &own) != 0) return found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const auto pid = parse_number(entry->path().filename().native());
    struct stat other{};
    if (!pid || *pid == getpid() || stat((entry->path() / "exe").c_str(), &other) != 0) continue;
    if (is_same_file(own, other)) found.push_back(allowed_cpus(*pid));
  }
  return found;
}

bool bind_this_thread_to(const Cpus& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace progress_engine
