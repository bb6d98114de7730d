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
enum class DoorbellKind { none, node, rma };
enum class Wait { spin, pause, yield, timer, mwait, futex, epoll };

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

struct Policy {
  PollingPoints points;
  bool offload = false;  // one thread makes every MPI call
  Trigger trigger = Trigger::outside;
  Wait wait = Wait::epoll;
  Placement placement = Placement::free;
  std::string cpus;  // of placement=list
  int slice_us = 0;  // 0: the scheduler's own
  int nice = 0;
  int idle_threads = 1;
  int idle_us = 10;
  int timer_us = 2000;
  int burst = 3;
  int min_distance_us = 100;
  int start_distance_us = 500;
  int max_distance_us = 4000;
  int rest_us = 10000;
  int park_s = 60;
  DoorbellKind doorbell = DoorbellKind::none;
  int rma_bytes = 65536;
  bool managed_waiting = false;
  int ring = 4096;
  int spin_us = 20;
  int awaited_spin_us = 10000;
  int nap_us = 1000;
  int inline_bytes = 64;
  std::string ult = "auto";
  std::string ult_wait = "lead";
  std::string driver = "auto";
  bool strict = false;
  int trial_ms = 0;
  bool pcontrol = false;
  bool report = false;
  std::string report_file;
};

// A sentence for the user: what is wrong, where, and what would be right.
struct SettingError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Values = std::map<std::string, std::string, std::less<>>;

struct Setting {
  std::string_view key;
  std::string_view type;     // "int", "flag", "choice", "set", "text"
  std::string_view unit;     // "" if none
  std::string_view choices;  // for "choice" and "set", separated by spaces
  long minimum;              // for "int"
  long maximum;
  std::string_view initial;  // the default, as text
  std::string_view meaning;
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
