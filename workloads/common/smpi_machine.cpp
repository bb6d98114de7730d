// SPDX-License-Identifier: BSD-3-Clause
// The machine that SMPI simulates: a host for each rank, where nothing else runs, and calls and computation take no
// time. In place of machine.cpp.
#include <mpi.h>

#include <array>
#include <ctime>

#include "common/clock.h"
#include "common/machine.h"

namespace workloads {

Clock::time_point Clock::now() noexcept { return time_point(duration(MPI_Wtime())); }

void sleep_for(double duration_s) noexcept {
  if (duration_s <= 0) {
    return;
  }
  constexpr double nanoseconds = 1e9;
  const auto whole = static_cast<std::time_t>(duration_s);
  const auto rest = static_cast<long>((duration_s - static_cast<double>(whole)) * nanoseconds);
  const timespec length{.tv_sec = whole, .tv_nsec = rest};
  smpi_nanosleep(&length, nullptr);
}

void spin_for(double duration_s) noexcept { sleep_for(duration_s); }

double measured_clock_resolution_s() { return 0; }

double process_cpu_s() noexcept { return 0; }

double thread_cpu_s() noexcept { return 0; }

Switches thread_switches() noexcept { return {}; }

Usage read_usage() noexcept { return {}; }

Usage operator-(const Usage& /*end*/, const Usage& /*begin*/) noexcept { return {}; }

std::vector<int> allowed_cpus() { return {0}; }

bool bind_this_thread(const std::vector<int>& /*cpus*/) noexcept { return true; }

int current_cpu() noexcept { return 0; }

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return name.data();
}

Noise read_noise(const std::vector<int>& /*cpus*/) { return {}; }

Json noise_between(const Noise& /*begin*/, const Noise& /*end*/, const std::vector<int>& /*cpus*/) {
  return Json::object();
}

void tell_others(std::vector<Json>& /*ranks*/) {}

NetworkCounters read_network_counters() { return {}; }

Json interface_bytes_between(const NetworkCounters& /*begin*/, const NetworkCounters& /*end*/) {
  return Json::object();
}

EnergyMeter::EnergyMeter(const std::filesystem::path& /*sysfs*/) {}

void EnergyMeter::update() {}

Json EnergyMeter::report() const { return nullptr; }

void count_machines_once(std::vector<Json>& ranks) {
  for (auto& rank : ranks) {
    rank.erase("energy");
  }
}

}  // namespace workloads
