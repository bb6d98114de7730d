// SPDX-License-Identifier: BSD-3-Clause
// What the report says, as plain values (fields.hpp says what each is). Who knows them fills them in (mpi/report.cpp,
// offload/process.cpp), without JSON: that takes the compiler longer than all the rest of a file, and those two are
// compiled for every MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/platform.hpp"
#include "progress_engine/progress_engine.h"
#include "telemetry/fields.hpp"
#include "telemetry/phases.hpp"
#include "telemetry/thread_usage.hpp"

namespace progress_engine {

// By what the MPI carries messages, as the process shows it: an MPI that is asked for another thread level may choose
// otherwise, and then a run with the engine says nothing about one without.

struct Transport {
  PE_FIELDS(PE_TRANSPORT)

  // "ob1, tcp"; "unknown" if nothing shows.
  std::string words() const;
};

// Of this process, at this moment. Takes about a millisecond.
Transport look_at_transport();

struct SettingReport {
  std::string key;
  std::string type;  // see policy/settings.hpp
  std::string value;
};
using NamedCounts = std::vector<std::pair<std::string, std::uint64_t>>;

struct ThreadLevel {
  PE_FIELDS(PE_THREAD_LEVEL)
};
struct ThreadReport {
  PE_FIELDS(PE_THREAD_REPORT)
};
inline ThreadReport report_of_thread(std::string role, const ThreadUsage& used) {
  return {std::move(role),          used.tid, used.cpus_allowed, used.cpu_last, used.cpu_s, used.voluntary_switches,
          used.involuntary_switches};
}
struct EventsReport {
  PE_FIELDS(PE_EVENTS_REPORT)
};
struct DoorbellReport {
  PE_FIELDS(PE_DOORBELL_REPORT)
};
struct OffloadReport {
  PE_FIELDS(PE_OFFLOAD_REPORT)
  // ---- in the report among those of the engine's threads
  ThreadUsage thread;
  std::optional<Nanoseconds> slice_ns;
};
struct Report {
  PE_FIELDS(PE_REPORT)
};

// An object on one line.
std::string to_json(const Report& report);
// What to_json() wrote, by this version or another: what is missing keeps its initial value. Throws std::exception.
Report from_json(const std::string& text);
// Of the engine's threads, together.
struct Cost {
  double cpu_s = 0;
  std::uint64_t switches = 0;
};
Cost cost_of(const Report& report);
// The counters, for people: "progress engine: rank 0: adaptive: ...", or why it was inactive.
std::string to_line(const Report& report);

// "%r %p %h" -> rank, process, host; "%%" -> "%".
std::string expand_file_name(const std::string& pattern, int rank);

}  // namespace progress_engine
