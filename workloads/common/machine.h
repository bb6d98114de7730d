// SPDX-License-Identifier: BSD-3-Clause
// What the machine that a rank runs on tells: its interfaces' bytes, its energy, what disturbs the rank, its CPUs, the
// use of threads. Built for SMPI, MPI is asked instead (smpi_machine.cpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/json.h"

namespace workloads {

// Bytes over the node's network interfaces: proof of where the messages went. A fall-back to loopback shows under `lo`.

struct InterfaceBytes {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

using NetworkCounters = std::map<std::string, InterfaceBytes>;

/// The table of /proc/net/dev, all interfaces.
NetworkCounters parse_proc_net_dev(std::istream& table);

/// Ports of InfiniBand (and RoCE) devices below `root`, named "mlx5_0/1"; their counters count 4 bytes.
NetworkCounters read_infiniband(const std::filesystem::path& root);

/// All of this node (of this network namespace). What cannot be read is absent.
NetworkCounters read_network_counters();

/// What came and went between two readings, as `interface_bytes` of the record schema.
Json interface_bytes_between(const NetworkCounters& begin, const NetworkCounters& end);

/// Energy of the machine, all that runs on it included: of the first source that can be read. Cray's pm_counters count
/// the whole node, powercap (RAPL) the processor packages.
class EnergyMeter {
 public:
  /// From now on. Of powercap the packages count: not their parts, nor the platform that they are part of.
  explicit EnergyMeter(const std::filesystem::path& sysfs = "/sys");

  /// Adds what was used since it was last called. A counter that begins anew twice in between is not noticed: some do
  /// after 65 kJ.
  void update();

  /// As `energy` of the record schema, with the `machine`; null of a simulated one.
  [[nodiscard]] Json report() const;

  struct Counter {
    std::filesystem::path file;
    double joules_per_count = 0;
    std::uint64_t range = 0;  ///< after which it begins anew; 0: it does not
    std::uint64_t last = 0;
  };

 private:
  std::string source_;
  std::vector<Counter> counters_;
  double joules_ = 0;
  Clock::time_point begin_;
  Clock::time_point last_;
  std::string problem_;
};

/// Leaves `energy` on the first rank of each machine, whatever number of nodes the machine plays.
void count_machines_once(std::vector<Json>& ranks);

// What disturbed a rank while it measured. Read from /proc/stat, whose clock ticks 100 times a second.

/// Seconds since boot, over the CPUs on which this rank may run, and the application thread's involuntary switches.
struct Noise {
  double read_s = 0;
  double own_s = 0;      ///< of this process, on whichever CPU
  double busy_s = 0;     ///< of the CPUs with all but the two below
  double steal_s = 0;    ///< taken by the hypervisor
  double softirq_s = 0;  ///< spent in the kernel's soft interrupts, the network's among them
  long involuntary_switches = 0;
};

/// All that the text of /proc/stat has of `cpus`.
Noise parse_proc_stat(std::istream& text, const std::vector<int>& cpus, double ticks_per_second);

/// As it is now, of the calling thread (switches) and of `cpus`.
Noise read_noise(const std::vector<int>& cpus);

/// As `noise` of the record schema, but for what others took.
Json noise_between(const Noise& begin, const Noise& end, const std::vector<int>& cpus);

/// What others took of each of a rank's CPUs: what these were busy, less what all ranks on the same CPUs used.
void tell_others(std::vector<Json>& ranks);

// Where a rank and its threads run; records say what was observed, never what was asked.

/// CPUs on which the calling thread may run, ascending (sched_getaffinity).
std::vector<int> allowed_cpus();

/// Keeps the calling thread on these CPUs. False if it may run on none of them.
bool bind_this_thread(const std::vector<int>& cpus) noexcept;

/// CPU on which the calling thread runs at this moment.
int current_cpu() noexcept;

std::string host_name();

// CPU time and context switches by thread role: the application's thread, and all other threads of the process (the
// engine's or the MPI's own).

struct Switches {
  long voluntary = 0;
  long involuntary = 0;

  bool operator==(const Switches&) const = default;
};

struct Usage {
  double cpu_s = 0;      ///< all threads
  Switches application;  ///< the calling thread
  Switches other;        ///< all but the calling thread, ended threads included
};

Switches thread_switches() noexcept;

/// Since the start of the process. Call it from the application's thread. About 1 us.
Usage read_usage() noexcept;

Usage operator-(const Usage& end, const Usage& begin) noexcept;

}  // namespace workloads
