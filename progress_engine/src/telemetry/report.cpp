// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "mpi/runtime.hpp"
#include "offload/process.hpp"
#include "progress_engine/progress_engine.h"

namespace progress_engine {
namespace {

using Json = nlohmann::ordered_json;

Json describe_thread(const Worker& worker) {
  const bool ended = worker.ended.load(std::memory_order_acquire);
  const ThreadUsage usage = ended ? worker.final_usage : usage_of_thread(worker.tid);
  return {{"role", worker.role},
          {"tid", usage.tid},
          {"cpus_allowed", usage.cpus_allowed},
          {"cpu_last", usage.cpu_last},
          {"cpu_s", usage.cpu_seconds},
          {"voluntary_switches", usage.voluntary_switches},
          {"involuntary_switches", usage.involuntary_switches}};
}

Json describe_verdict(const Verdict& verdict) {
  return {{"word", verdict.word},
          {"armed_phases", verdict.armed_phases},
          {"disarmed_phases", verdict.disarmed_phases},
          {"armed_s", verdict.armed_s},
          {"disarmed_s", verdict.disarmed_s}};
}

// "; helped: 1.20 ms an operation instead of 1.55 (in 12 phases with and 11 without)"
std::string verdict_words(const Json& verdict) {
  const auto word = verdict["word"].get<std::string>();
  if (word == "not measured") return "; helped or hurt: not measured (trial_ms=100 would)";
  return fmt::format("; {}: {:.3g} ms an operation instead of {:.3g} (in {} phases with and {} without)", word,
                     1e3 * verdict["armed_s"].get<double>(), 1e3 * verdict["disarmed_s"].get<double>(),
                     verdict["armed_phases"].get<std::size_t>(), verdict["disarmed_phases"].get<std::size_t>());
}

Json describe_doorbell(const Engine* engine) {
  const Doorbell* doorbell = engine ? engine->doorbell() : nullptr;
  if (!doorbell) return nullptr;
  std::uint64_t answers = 0;
  for (const auto& worker : engine->workers()) answers += worker->answers;
  const auto counts = doorbell->counts();
  const Runtime* runtime = status().runtime;
  return {{"neighbours", counts.neighbours},
          {"rings", engine->activity().rings() + counts.rings},
          {"wakes", counts.wakes},
          {"answers", answers},
          {"remote_rings", runtime->remote ? runtime->remote->rings() : runtime->remote_rings}};
}

struct Totals {
  std::uint64_t polls = 0;
  std::uint64_t productive = 0;
  std::uint64_t wakes = 0;
  std::uint64_t parks = 0;
  double cpu_seconds = 0;
  std::uint64_t switches = 0;

  void add(const Worker& worker) {
    polls += worker.polls;
    productive += worker.productive_polls;
    wakes += worker.wakes;
    parks += worker.parks;
  }
};

Json settings_json() {
  Json settings = Json::object();
  for (const auto& setting : all_settings()) {
    const auto value = status().settings.find(setting.key);
    if (value == status().settings.end()) continue;
    if (setting.type == "int")
      settings[value->first] = std::stol(value->second);
    else if (setting.type == "flag")
      settings[value->first] = value->second == "1";
    else
      settings[value->first] = value->second;
  }
  return settings;
}

void add_activity(Json& report, const Engine* engine) {
  Totals totals;
  Json threads = Json::array();
  Json slice = nullptr;
  if (engine) {
    totals.add(engine->calls());
    for (const auto& worker : engine->workers()) {
      totals.add(*worker);
      threads.push_back(describe_thread(*worker));
      if (worker->slice > 0 && !worker->idle_class) slice = worker->slice.load();
    }
  }
  const Json offload = offload::describe();
  if (!offload.is_null()) {
    threads.push_back(offload::describe_thread());
    slice = offload::describe_slice();
  }
  report["offload"] = offload;
  report["slice_ns"] = slice;
  report["threads"] = threads;
  report["polls"] = totals.polls;
  report["productive_polls"] = totals.productive;
  report["wakes"] = totals.wakes;
  report["parks"] = totals.parks;
  report["verdict"] = describe_verdict(engine ? engine->verdict() : Verdict{});
  report["doorbell"] = describe_doorbell(engine);
  report["tracked"] = engine ? engine->activity().started() : 0;
  report["pending"] = engine ? engine->activity().pending() : 0;
  report["standing"] = engine ? engine->activity().standing() : 0;
}

std::string report_line(const Json& report) {
  const auto rank = status().rank;
  if (!status().was_active)
    return fmt::format("progress engine: rank {}: {}: inactive: {}", rank, status().preset, status().reason);
  double cpu = 0;
  std::uint64_t switches = 0;
  for (const auto& thread : report["threads"]) {
    cpu += thread["cpu_s"].get<double>();
    switches += thread["voluntary_switches"].get<std::uint64_t>() + thread["involuntary_switches"].get<std::uint64_t>();
  }
  return fmt::format(
      "progress engine: rank {}: {}: {} operations tracked, {} polls ({} moved something), {} wakes, {} parks, {} "
      "context "
      "switches, {:.3f} s of CPU, driver {}{}",
      rank, status().preset, report["tracked"].get<std::uint64_t>(), report["polls"].get<std::uint64_t>(),
      report["productive_polls"].get<std::uint64_t>(), report["wakes"].get<std::uint64_t>(),
      report["parks"].get<std::uint64_t>(), switches, cpu, status().driver, verdict_words(report["verdict"]));
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

std::string expand_file_name(const std::string& pattern, int rank) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[++i] : '\0';
    if (next == 'r')
      name += std::to_string(rank);
    else if (next == 'p')
      name += std::to_string(getpid());
    else if (next == 'h')
      name += host_name();
    else if (next == '%')
      name += '%';
    else
      name += next ? fmt::format("%{}", next) : std::string(1, pattern[i]);
  }
  return name;
}

Json make_report() {
  const Status& now = status();
  const Runtime* active = active_runtime.load(std::memory_order_acquire);
  Json report;
  report["version"] = PE_VERSION;
  report["preset"] = now.preset;
  report["active"] = now.was_active && now.reason.empty();
  report["reason"] = now.reason;
  report["settings"] = settings_json();
  report["driver"] = active ? active->driver->name() : now.driver;
  report["driver_switches"] = active ? active->driver->switches() : now.driver_switches;
  const auto wait = now.settings.find("wait");
  report["wait"] = wait == now.settings.end() ? "" : wait->second;
  report["wait_instruction"] = nullptr;
  if (report["wait"] == "mwait") report["wait_instruction"] = wait_instruction_name(wait_instruction());
  report["thread_level"] = {{"asked", level_name(now.level_asked)}, {"provided", level_name(now.level_provided)}};
  add_activity(report, now.runtime ? now.runtime->engine.get() : nullptr);
  report["managed_sleeps"] = now.runtime && now.runtime->waits ? now.runtime->waits->sleeps() : 0;
  return report;
}

void write_report() {
  if (!status().report && status().report_file.empty()) return;
  const Json report = make_report();
  if (status().report) std::fprintf(stderr, "%s\n", report_line(report).c_str());
  if (status().report_file.empty()) return;
  const auto name = expand_file_name(status().report_file, status().rank);
  std::ofstream file(name);
  if (!(file << report.dump() << '\n'))
    std::fprintf(stderr, "progress engine: the report file %s cannot be written: %s.\n", name.c_str(),
                 std::strerror(errno));
}

}  // namespace progress_engine
