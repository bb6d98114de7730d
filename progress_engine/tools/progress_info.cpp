// SPDX-License-Identifier: BSD-3-Clause
// progress-info: what this machine offers, every setting, the presets. Needs no MPI.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "builds.hpp"
#include "platform/platform.hpp"
#include "platform/scheduling.hpp"
#include "policy/sources.hpp"
#include "progress_engine/progress_engine.h"
#include "telemetry/advice.hpp"
#include "telemetry/thread_usage.hpp"
#include "wait/event_source.hpp"
#include "wait/user_wait.hpp"

using namespace progress_engine;
using Json = nlohmann::ordered_json;

namespace {

// What this machine offers to the engine.
Json describe_machine() {
  constexpr Nanoseconds asked = microseconds(100);
  Json machine;
  utsname system{};
  uname(&system);
  prepare_fences();
  machine["kernel"] = system.release;
  machine["cpus"] = usage_of_thread(gettid()).cpus_allowed;
  machine["wait_instruction"] = wait_instruction_name(wait_instruction());
  const auto slice = probe_slice(asked);
  machine["slice_ns"] = slice ? Json(*slice) : Json();
  machine["short_slice"] = slice == asked;
  machine["precise_epoll"] = has_precise_epoll();
  machine["membarrier"] = !light_fence_is_full;
  return machine;
}

Json describe_setting(const Setting& setting, const Resolved& resolved) {
  const std::string key(setting.key);
  Json entry = {{"key", setting.key},
                {"type", setting.type},
                {"unit", setting.unit},
                {"default", setting.initial},
                {"meaning", setting.meaning},
                {"environment", environment_name(setting.key)},
                {"value", resolved.values.at(key)},
                {"origin", resolved.origins.at(key)}};
  if (!setting.choices.empty()) entry["choices"] = setting.choices;
  if (setting.type == "int") entry["range"] = {setting.minimum, setting.maximum};
  return entry;
}

// The MPI libraries for which progress-run has an engine here.
std::set<std::string> engines_here() {
  std::set<std::string> engines;
  for (const auto& build : builds_here()) engines.insert(build.built_for);
  return engines;
}

Json describe(const Resolved& resolved) {
  Json info;
  info["version"] = PE_VERSION;
  info["built_for"] = built_for();
  info["engines"] = engines_here();
  info["machine"] = describe_machine();
  info["variant"] = resolved.variant;
  info["settings"] = Json::array();
  for (const auto& setting : all_settings()) info["settings"].push_back(describe_setting(setting, resolved));
  info["presets"] = all_presets();
  return info;
}

std::string range_of(const Setting& setting) {
  if (setting.type == "int") return fmt::format("{}..{} {}", setting.minimum, setting.maximum, setting.unit);
  if (setting.type == "flag") return "0 or 1";
  return std::string(setting.choices.empty() ? "text" : setting.choices);
}

void print(const Json& info) {
  fmt::print("progress engine {} for {}\n\nThis machine\n", PE_VERSION, fmt::join(engines_here(), ", "));
  for (const auto& [key, value] : info["machine"].items()) fmt::print("  {:20} {}\n", key, value.dump());
  fmt::print("\nPresets (progress-run --variant NAME)\n");
  for (const auto& [name, preset] : info["presets"].items())
    fmt::print("  {:10} {}\n  {:10} {}\n", name, preset["summary"].get<std::string>(), "", preset["settings"].dump());
  fmt::print(
      "\nSettings (progress-run --set KEY=VALUE, PROGRESS_ENGINE_<KEY>, a file named by PROGRESS_ENGINE_CONFIG)\n");
  for (const auto& setting : all_settings())
    fmt::print("  {:16} {} [{}; default {}]\n", setting.key, setting.meaning, range_of(setting),
               setting.initial.empty() ? "none" : setting.initial);
  fmt::print("\nWhat would run here: variant {}\n", info["variant"].get<std::string>());
  for (const auto& setting : info["settings"])
    fmt::print("  {:16} {:24} {}\n", setting["key"].get<std::string>(), setting["value"].get<std::string>(),
               setting["origin"].get<std::string>());
}

int tell_of_job(const std::vector<std::string>& files) {
  std::vector<Report> ranks;
  for (const auto& name : files) {
    std::ifstream file(name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    try {
      ranks.push_back(from_json(text));
    } catch (const std::exception&) {
      std::fprintf(stderr, "progress-info: --job %s: no report of the engine's, as --report-file has ranks write.\n",
                   name.c_str());
      return 2;
    }
  }
  fmt::print("{}", sentences(ranks));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool json = false;
  std::vector<std::string> reports;
  CLI::App app(
      "What this machine offers to the progress engine, every setting and preset.\n\nExample: progress-info --json");
  app.add_flag("--json", json, "as JSON");
  app.add_option("--job", reports,
                 "instead one sentence of all ranks, from the files that progress-run --report-file had them write");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "progress-info: %s (see progress-info --help)\n", error.what());
    return 2;
  }
  if (!reports.empty()) return tell_of_job(reports);
  try {
    const Json info = describe(resolve(sources_of_process(environ)));
    if (json)
      fmt::print("{}\n", info.dump(2));
    else
      print(info);
  } catch (const SettingError& error) {
    std::fprintf(stderr, "progress-info: %s\n", error.what());
    return 2;
  }
  return 0;
}
