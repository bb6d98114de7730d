// SPDX-License-Identifier: BSD-3-Clause
#include "common/noise.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "common/thread_usage.h"

namespace workloads {

Noise parse_proc_stat(std::istream& text, const std::vector<int>& cpus, double ticks_per_second) {
  enum Column : std::uint8_t { user, nice, system, idle, iowait, irq, softirq, steal, columns };
  Noise noise;
  for (std::string line; std::getline(text, line);) {
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    if (name.size() < 4 || !name.starts_with("cpu")) {  // "cpu" alone is the sum over all
      continue;
    }
    if (std::ranges::find(cpus, std::stoi(name.substr(3))) == cpus.end()) {
      continue;
    }
    std::array<double, columns> ticks{};
    for (double& value : ticks) {
      fields >> value;
    }
    noise.softirq_s += ticks[softirq] / ticks_per_second;
    noise.steal_s += ticks[steal] / ticks_per_second;
  }
  return noise;
}

Noise read_noise(const std::vector<int>& cpus) {
  std::ifstream text("/proc/stat");
  auto noise = parse_proc_stat(text, cpus, static_cast<double>(sysconf(_SC_CLK_TCK)));
  noise.involuntary_switches = thread_switches().involuntary;
  return noise;
}

Json noise_between(const Noise& begin, const Noise& end) {
  // The kernel may correct steal time downwards.
  const auto growth = [](auto before, auto after) { return std::max(after - before, decltype(after){}); };
  return {
      {"steal_s", growth(begin.steal_s, end.steal_s)},
      {"softirq_s", growth(begin.softirq_s, end.softirq_s)},
      {"involuntary_switches", growth(begin.involuntary_switches, end.involuntary_switches)},
  };
}

}  // namespace workloads
