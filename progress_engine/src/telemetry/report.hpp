// SPDX-License-Identifier: BSD-3-Clause
// What the report says, as plain values. Who knows them fills them in (mpi/report.cpp, offload/process.cpp), without
// JSON: that takes the compiler longer than all the rest of a file, and those two are compiled for every MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/platform.hpp"
#include "telemetry/phases.hpp"
#include "telemetry/thread_usage.hpp"
#include "telemetry/transport.hpp"

namespace progress_engine {

struct SettingReport {
  std::string key;
  std::string type;  // see policy/settings.hpp
  std::string value;
};

struct ThreadReport {
  std::string role;
  ThreadUsage usage;
};

// What announced traffic: sockets, or a fabric by its name.
struct EventsReport {
  using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

  std::vector<std::string> sources;
  Counts wakes;
  Counts armed;
  std::uint64_t busy = 0;
  std::string lack;
};

struct DoorbellReport {
  std::uint64_t neighbours = 0;
  std::uint64_t rings = 0;
  std::uint64_t bounded = 0;
  std::uint64_t wakes = 0;
  std::uint64_t answers = 0;
};

// Of the communication thread.
struct OffloadReport {
  std::uint64_t commands = 0;
  std::uint64_t passes = 0;
  std::uint64_t naps = 0;
  std::uint64_t rings = 0;
  std::uint64_t queue_full = 0;
  std::uint64_t stand_ins = 0;
  std::uint64_t turns = 0;
  std::string collectives;  // how blocking collective calls were made
  std::uint64_t traffic = 0;
  double pending_while_computing_s = 0;
  double lifetime_s = 0;
  bool windows = false;  // there were some
  std::uint64_t requests_at_once = 0;
  std::uint64_t suspensions = 0;
  std::optional<std::string> ult_adapter;
  // ---- among those of the engine's threads
  ThreadUsage thread;
  std::optional<Nanoseconds> slice;
};

// include/progress_engine/progress_engine.h says what each is; what is null there has no value here.
struct Report {
  int rank = -1;
  std::string preset;
  std::string reason;
  bool active = false;
  std::vector<SettingReport> settings;
  std::string driver;
  std::uint64_t driver_switches = 0;
  std::string wait;
  std::optional<std::string> wait_instruction;
  std::string level_asked;
  std::string level_provided;
  std::optional<OffloadReport> offload;
  std::optional<Nanoseconds> slice;
  std::vector<ThreadReport> threads;
  std::uint64_t polls = 0;
  std::uint64_t productive_polls = 0;
  std::uint64_t wakes = 0;
  std::uint64_t parks = 0;
  std::uint64_t fences = 0;
  WakeCounts wake_sources{};
  std::optional<double> armed_s;
  std::optional<double> disarmed_s;
  std::optional<double> pending_while_computing_s;
  Verdict verdict;
  std::optional<EventsReport> events;
  std::optional<DoorbellReport> doorbell;
  std::uint64_t tracked = 0;
  std::int64_t pending = 0;
  std::int64_t progress_users = 0;
  // ---- for the advice
  bool windows = false;         // there were some
  bool samples_rarely = false;  // all its threads are of the idle class
  bool waits_for_announcements = false;
  Transport transport;
  std::uint64_t managed_sleeps = 0;
  std::optional<int> world_size;
  // ---- of the MPI
  std::string mpi;  // "MPICH Version: 5.0.2"; "" where there is none
  std::string abi;  // "libmpi_abi.so.1": what the engine was built for
};

// The object that progress_engine.h documents.
std::string to_json(const Report& report);
// "progress engine: rank 0: adaptive: ...", or why it was inactive.
std::string to_line(const Report& report);

// "%r %p %h" -> rank, process, host; "%%" -> "%".
std::string expand_file_name(const std::string& pattern, int rank);

}  // namespace progress_engine
