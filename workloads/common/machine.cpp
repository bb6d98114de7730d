// SPDX-License-Identifier: BSD-3-Clause
#include "common/machine.h"

#include <fmt/ranges.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace workloads {
namespace {

double read(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  constexpr double seconds_per_nanosecond = 1e-9;
  return static_cast<double>(now.tv_sec) + seconds_per_nanosecond * static_cast<double>(now.tv_nsec);
}

}  // namespace

void spin_for(double duration_s) noexcept {
  const auto begin = Clock::now();
  while (seconds_since(begin) < duration_s) {
  }
}

void sleep_for(double duration_s) noexcept {
  const std::chrono::duration<double> length(duration_s);
  std::this_thread::sleep_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(length));
}

double measured_clock_resolution_s() {
  constexpr int steps = 2000;
  double smallest = std::numeric_limits<double>::max();
  for (int step = 0; step < steps; ++step) {
    const auto begin = Clock::now();
    auto end = Clock::now();
    while (end == begin) {
      end = Clock::now();
    }
    smallest = std::min(smallest, seconds_between(begin, end));
  }
  return smallest;
}

double process_cpu_s() noexcept { return read(CLOCK_PROCESS_CPUTIME_ID); }

double thread_cpu_s() noexcept { return read(CLOCK_THREAD_CPUTIME_ID); }

namespace {

namespace fs = std::filesystem;

std::uint64_t read_number(const fs::path& file) {
  std::uint64_t number = 0;
  std::ifstream(file) >> number;
  return number;
}

// A counter that was reset in between (an interface that came back) must not become a huge number.
std::uint64_t growth(std::uint64_t begin, std::uint64_t end) { return end - std::min(begin, end); }

/// One for all containers of a machine; empty where the kernel does not say it.
std::string boot_id() {
  std::ifstream kernel("/proc/sys/kernel/random/boot_id");
  std::string id;
  kernel >> id;
  return id;
}

}  // namespace

NetworkCounters parse_proc_net_dev(std::istream& table) {
  constexpr int columns_between = 7;  // packets, errs, drop, fifo, frame, compressed, multicast
  NetworkCounters counters;
  for (std::string line; std::getline(table, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) {
      continue;  // the two lines of headings
    }
    std::istringstream name_field(line.substr(0, colon));
    std::istringstream numbers(line.substr(colon + 1));
    std::string name;
    InterfaceBytes bytes;
    std::uint64_t ignored = 0;
    name_field >> name;
    numbers >> bytes.received;
    for (int column = 0; column < columns_between; ++column) {
      numbers >> ignored;
    }
    numbers >> bytes.sent;
    counters[name] = bytes;
  }
  return counters;
}

NetworkCounters read_infiniband(const fs::path& root) {
  constexpr std::uint64_t bytes_per_count = 4;
  NetworkCounters counters;
  std::error_code none;
  for (const auto& device : fs::directory_iterator(root, none)) {
    for (const auto& port : fs::directory_iterator(device.path() / "ports", none)) {
      const auto folder = port.path() / "counters";
      if (fs::exists(folder / "port_rcv_data", none)) {
        const auto name = device.path().filename().string() + "/" + port.path().filename().string();
        counters[name] = {
            .received = bytes_per_count * read_number(folder / "port_rcv_data"),
            .sent = bytes_per_count * read_number(folder / "port_xmit_data"),
        };
      }
    }
  }
  return counters;
}

NetworkCounters read_network_counters() {
  std::ifstream table("/proc/net/dev");
  auto counters = parse_proc_net_dev(table);
  counters.merge(read_infiniband("/sys/class/infiniband"));
  return counters;
}

Json interface_bytes_between(const NetworkCounters& begin, const NetworkCounters& end) {
  Json difference = Json::object();
  for (const auto& [name, bytes] : end) {
    const auto before = begin.find(name);
    const InterfaceBytes start = before == begin.end() ? InterfaceBytes{} : before->second;
    difference[name] = {{"received", growth(start.received, bytes.received)}, {"sent", growth(start.sent, bytes.sent)}};
  }
  return difference;
}

namespace {

/// Throws std::runtime_error with the file and the reason.
std::uint64_t number_in(const fs::path& file) {
  std::uint64_t number = 0;
  errno = 0;
  if (!(std::ifstream(file) >> number)) {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), errno == 0 ? "no number" : std::strerror(errno)));
  }
  return number;
}

bool is_package(const fs::path& zone) {
  constexpr std::string_view prefix = "intel-rapl:";  // so AMD's are called, too
  const auto folder = zone.filename().string();
  std::string name;
  std::ifstream(zone / "name") >> name;
  return folder.starts_with(prefix) && folder.find(':', prefix.size()) == std::string::npos &&
         name.starts_with("package");
}

using Counters = std::vector<EnergyMeter::Counter>;

EnergyMeter::Counter counter(const fs::path& file, double joules_per_count, std::uint64_t range) {
  return {.file = file, .joules_per_count = joules_per_count, .range = range, .last = number_in(file)};
}

/// Empty where this is no Cray. Of its several counters the one of the whole node: "JOULES J TIMESTAMP us".
Counters of_node(const fs::path& sysfs) {
  std::error_code none;
  const auto file = sysfs / "cray/pm_counters/energy";
  if (!fs::exists(file, none)) {
    return {};
  }
  const auto found = counter(file, 1.0, 0);
  std::uint64_t joules = 0;
  std::string unit;
  if (!(std::ifstream(file) >> joules >> unit) || unit != "J") {
    throw std::runtime_error(fmt::format("{}: no joules", file.string()));
  }
  return {found};
}

Counters of_packages(const fs::path& sysfs) {
  constexpr double joules_per_microjoule = 1e-6;
  const auto powercap = sysfs / "class/powercap";
  Counters found;
  std::error_code none;
  for (const auto& zone : fs::directory_iterator(powercap, none)) {
    if (is_package(zone)) {
      const auto range = number_in(zone.path() / "max_energy_range_uj");
      found.push_back(counter(zone.path() / "energy_uj", joules_per_microjoule, range));
    }
  }
  if (found.empty()) {
    throw std::runtime_error(fmt::format("no processor package in {}", powercap.string()));
  }
  return found;
}

struct EnergySource {
  const char* name;
  Counters (*find)(const fs::path& sysfs);
};

constexpr std::array<EnergySource, 2> energy_sources{{
    {.name = "pm_counters", .find = of_node},
    {.name = "powercap", .find = of_packages},
}};

}  // namespace

EnergyMeter::EnergyMeter(const fs::path& sysfs) : begin_(Clock::now()), last_(begin_) {
  std::vector<std::string> reasons;
  for (const auto& [name, find] : energy_sources) {
    try {
      counters_ = find(sysfs);
      if (!counters_.empty()) {
        source_ = name;
        return;
      }
    } catch (const std::runtime_error& error) {
      reasons.emplace_back(error.what());
    }
  }
  problem_ = fmt::format("{}", fmt::join(reasons, "; "));
}

void EnergyMeter::update() {
  try {
    for (auto& [file, joules_per_count, range, last] : counters_) {
      const auto now = number_in(file);
      if (now < last && range == 0) {
        throw std::runtime_error(fmt::format("{}: it began anew", file.string()));
      }
      joules_ += joules_per_count * static_cast<double>(now - last + (now < last ? range : 0));
      last = now;
    }
    last_ = Clock::now();
  } catch (const std::runtime_error& error) {
    problem_ = error.what();
  }
}

Json EnergyMeter::report() const {
  const auto id = boot_id();
  Json energy = {{"machine", id.empty() ? host_name() : id}};
  if (problem_.empty()) {
    energy["source"] = source_;
    energy["joules"] = joules_;
    energy["seconds"] = seconds_between(begin_, last_);
  } else {
    energy["unread"] = problem_;
  }
  return energy;
}

void count_machines_once(std::vector<Json>& ranks) {
  std::set<std::string> counted;
  for (auto& rank : ranks) {
    Json& energy = rank["energy"];
    if (energy.is_null() || !counted.insert(energy["machine"].get<std::string>()).second) {
      rank.erase("energy");
    } else {
      energy.erase("machine");
    }
  }
}

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
    noise.busy_s += (ticks[user] + ticks[nice] + ticks[system]) / ticks_per_second;
    noise.softirq_s += ticks[softirq] / ticks_per_second;
    noise.steal_s += ticks[steal] / ticks_per_second;
  }
  return noise;
}

Noise read_noise(const std::vector<int>& cpus) {
  std::ifstream text("/proc/stat");
  auto noise = parse_proc_stat(text, cpus, static_cast<double>(sysconf(_SC_CLK_TCK)));
  noise.read_s = seconds_since({});
  noise.own_s = process_cpu_s();
  noise.involuntary_switches = thread_switches().involuntary;
  return noise;
}

Json noise_between(const Noise& begin, const Noise& end, const std::vector<int>& cpus) {
  // The kernel may correct steal time downwards.
  const auto growth = [](auto before, auto after) { return std::max(after - before, decltype(after){}); };
  return {
      {"place", fmt::format("{} {}", boot_id(), fmt::join(cpus, ","))},
      {"cpus", std::max<std::size_t>(cpus.size(), 1)},
      {"own_s", end.own_s - begin.own_s},
      {"busy_s", growth(begin.busy_s, end.busy_s)},
      {"watched_s", end.read_s - begin.read_s},
      {"steal_s", growth(begin.steal_s, end.steal_s)},
      {"softirq_s", growth(begin.softirq_s, end.softirq_s)},
      {"involuntary_switches", growth(begin.involuntary_switches, end.involuntary_switches)},
  };
}

void tell_others(std::vector<Json>& ranks) {
  std::map<std::string, double> own_s;
  for (const auto& rank : ranks) {
    own_s[rank["noise"]["place"].get<std::string>()] += rank["noise"]["own_s"].get<double>();
  }
  for (auto& rank : ranks) {
    Json& noise = rank["noise"];
    // below 0 by chance: /proc/stat counts ticks
    noise["others_s"] =
        (noise["busy_s"].get<double>() - own_s[noise["place"].get<std::string>()]) / noise["cpus"].get<double>();
    for (const auto* name : {"place", "cpus", "own_s", "busy_s"}) {
      noise.erase(name);
    }
  }
}

namespace {

constexpr int most_cpus = 16384;  // a plain cpu_set_t ends at 1024, and the calls fail on larger machines
const std::size_t bytes = CPU_ALLOC_SIZE(most_cpus);

std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> empty_set() {
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most_cpus), [](cpu_set_t* s) { CPU_FREE(s); });
  CPU_ZERO_S(bytes, set.get());
  return set;
}

}  // namespace

std::vector<int> allowed_cpus() {
  const auto set = empty_set();
  std::vector<int> cpus;
  if (sched_getaffinity(0, bytes, set.get()) != 0) {
    return cpus;
  }
  for (int cpu = 0; cpu < most_cpus; ++cpu) {
    if (CPU_ISSET_S(cpu, bytes, set.get())) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

bool bind_this_thread(const std::vector<int>& cpus) noexcept {
  const auto set = empty_set();
  for (const int cpu : cpus) {
    CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set.get());
  }
  return sched_setaffinity(0, bytes, set.get()) == 0;
}

int current_cpu() noexcept { return sched_getcpu(); }

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

namespace {

Switches switches_of(__rusage_who_t who) noexcept {
  rusage usage{};
  getrusage(who, &usage);
  return {.voluntary = usage.ru_nvcsw, .involuntary = usage.ru_nivcsw};
}

Switches operator-(const Switches& end, const Switches& begin) noexcept {
  return {.voluntary = end.voluntary - begin.voluntary, .involuntary = end.involuntary - begin.involuntary};
}

}  // namespace

Switches thread_switches() noexcept { return switches_of(RUSAGE_THREAD); }

Usage read_usage() noexcept {
  Switches thread = thread_switches();
  Switches process = switches_of(RUSAGE_SELF);
  // A switch between the two readings would count for other threads, at times with a negative sign.
  for (Switches again = thread_switches(); again != thread; again = thread_switches()) {
    thread = again;
    process = switches_of(RUSAGE_SELF);
  }
  return {.cpu_s = process_cpu_s(), .application = thread, .other = process - thread};
}

Usage operator-(const Usage& end, const Usage& begin) noexcept {
  return {
      .cpu_s = end.cpu_s - begin.cpu_s,
      .application = end.application - begin.application,
      .other = end.other - begin.other,
  };
}

}  // namespace workloads
