// SPDX-License-Identifier: BSD-3-Clause
// What can be set, in one table, and the typed values that the engine reads.
//
// Where a setting comes from: sources.hpp. The policy's axes are independent of each other; a preset is a point in
// them.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace progress_engine {

enum class Trigger { always, pending, outside };
enum class Placement { free, spare, list };
enum class Collectives { automatic, blocking, nonblocking };
// What threads of the engine's do where the MPI takes a GPU's memory (mpi/gpu.hpp).
enum class BesideGpus { refuse, context, poll };
// What announces traffic to points=events: sockets, or a fabric's library (wait/fabrics.hpp).
enum class Announcements { automatic, sockets, ucx, libfabric, verbs, none };
enum class Wait { spin, timer, mwait, epoll };

// Where polling happens; a set of them, since `idle` has its timer behind it.
struct PollingPoints {
  bool on_calls = false;   // "explicit": inside the program's MPI calls
  bool dedicated = false;  // a thread that polls between waits of the `wait` axis
  bool timer = false;      // a thread that polls at a fixed period
  bool idle = false;       // SCHED_IDLE threads
  bool events = false;     // a thread that is parked, then woken by traffic

  bool threads() const { return dedicated || timer || idle || events; }
  bool any() const { return on_calls || threads(); }
};

// At the end of MPI, on stderr: nothing; one sentence of all ranks; and behind it each rank's counters.
enum class Reporting { none, job, full };
// Of the setting's value; nothing for another word.
Reporting reporting_named(std::string_view word);

// Whom a call that sends wakes: nobody, or the engines of receivers on this node; `automatic`: those, where a doorbell
// can be made.
enum class Ringing { none, node, automatic };

// Filled by make_policy(), which knows the defaults.
struct Policy {
  PollingPoints points;
  bool offload{};  // one thread makes every MPI call
  Trigger trigger{};
  Wait wait{};
  Placement placement{};
  std::string cpus;  // of placement=list
  int slice_us{};    // 0: the scheduler's own
  int idle_us{};
  int timer_us{};
  int burst{};
  int min_distance_us{};
  int start_distance_us{};
  int max_distance_us{};
  int rest_us{};
  int park_s = 60;  // the longest sleep of a parked thread, which bounds what a lost wake-up can cost; no setting
  int eager_bytes{};
  Announcements events{};
  Ringing doorbell{};
  bool managed_waiting{};
  Collectives collectives{};
  std::string ult;
  std::string driver;
  bool strict{};
  int trial_ms{};
  bool pcontrol{};
  BesideGpus beside_gpus{};
  Reporting report{};
  std::string report_file;
  std::string profile;
  int profile_depth{};
  std::string profile_regions;
  bool profile_clocks{};
};

// For how many bytes of messages that are no longer than `eager_bytes`, all together, nobody polls: with 16 KiB as many
// as a TCP connection takes both ways from its start (Linux: a window of 64 KiB, and 87 kB of buffer for what is sent
// with an MTU of 1500). Of a burst of more the rest may wait in the MPI's own queue.
constexpr long eager_bytes_in_all(const Policy& policy) { return 8L * policy.eager_bytes; }

// A sentence for the user: what is wrong, where, and what would be right.
struct SettingError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Values = std::map<std::string, std::string, std::less<>>;

// Declared once, in the table of settings.cpp: parsing, the report, progress-info and the Policy come of it.
struct Setting {
  std::string_view key;
  std::string_view type;     // "int", "flag", "choice", "set", "text"
  std::string_view unit;     // "" if none
  std::string_view choices;  // for "choice" and "set", separated by spaces
  long minimum;              // for "int"
  long maximum;
  std::string_view initial;  // the default, as text
  std::string_view meaning;
  void (*store)(Policy& policy, const Setting& setting, std::string_view value);  // a value that it accepts
};

// All settings, in the order in which help shows them.
const std::vector<Setting>& all_settings();

// The presets of presets.json: name -> {summary, answers, settings}.
const nlohmann::ordered_json& all_presets();
std::string preset_names();

// Default values, then the preset's, then `overrides`; every value is checked. Throws SettingError.
Values resolve_values(std::string_view preset, const Values& overrides);

// Typed values of a complete set; refuses combinations that cannot work. Throws SettingError.
Policy make_policy(const Values& values);

// Throws SettingError unless `key` exists and accepts `value`.
void check_value(std::string_view key, std::string_view value);

// The overrides that the environment holds: PROGRESS_ENGINE_<KEY>=value. Throws SettingError for an unknown KEY.
Values overrides_from_environment(char* const* environment);

// "slice_us" -> "PROGRESS_ENGINE_SLICE_US".
std::string environment_name(std::string_view key);

}  // namespace progress_engine
