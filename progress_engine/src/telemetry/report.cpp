// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "progress_engine/progress_engine.h"
#include "telemetry/advice.hpp"

namespace progress_engine {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::uint64_t count_of(const WakeCounts& counts, WakeSource source) { return counts[static_cast<std::size_t>(source)]; }

// An adapter moves the data once a poll has told it to, and that takes no longer than a poll that finds nothing. Only a
// library that is armed says what it moved.
bool moves_unseen(const Report& report) {
  constexpr std::array<std::string_view, 3> adapters = {"/dev/infiniband/", "/dev/cxi", "/dev/hfi1"};
  const auto was_armed = [](const auto& of) { return of.second > 0; };
  const bool armed = report.events && std::ranges::any_of(report.events->armed, was_armed);
  return !armed && std::ranges::any_of(report.transport.devices, [&](const auto& device) {
    return std::ranges::any_of(adapters, [&](auto begin) { return device.starts_with(begin); });
  });
}

std::string advice_of(const Report& report) {
  return advice({.active = report.active,
                 .offload = report.offload.has_value(),
                 .polls_in_calls_alone = !report.pending_while_computing_s,
                 .windows = report.windows,
                 .samples_rarely = report.samples_rarely,
                 .waits_for_announcements = report.waits_for_announcements,
                 .moves_unseen = moves_unseen(report),
                 .lifetime_s = report.armed_s.value_or(0) + report.disarmed_s.value_or(0),
                 .pending_while_computing_s = report.pending_while_computing_s.value_or(0),
                 .disarmed_s = report.disarmed_s.value_or(0),
                 .tracked = report.tracked,
                 .productive_polls = report.productive_polls,
                 .wakes = report.wakes,
                 .announced = count_of(report.wake_sources, WakeSource::traffic) +
                              count_of(report.wake_sources, WakeSource::neighbour),
                 .verdict = report.verdict.word});
}

// ---- as JSON

Json settings_json(const std::vector<SettingReport>& settings) {
  Json object = Json::object();
  for (const auto& [key, type, value] : settings) {
    if (type == "int")
      object[key] = std::stol(value);
    else if (type == "flag")
      object[key] = value == "1";
    else
      object[key] = value;
  }
  return object;
}

Json offload_json(const OffloadReport& offload) {
  Json object;
  object["commands"] = offload.commands;
  object["passes"] = offload.passes;
  object["naps"] = offload.naps;
  object["rings"] = offload.rings;
  object["queue_full"] = offload.queue_full;
  object["stand_ins"] = offload.stand_ins;
  object["turns"] = offload.turns;
  object["collectives"] = offload.collectives;
  object["traffic"] = offload.traffic;
  object["pending_while_computing_s"] = offload.pending_while_computing_s;
  object["lifetime_s"] = offload.lifetime_s;
  object["requests_at_once"] = offload.requests_at_once;
  object["suspensions"] = offload.suspensions;
  object["ult_adapter"] = or_null(offload.ult_adapter);
  return object;
}

Json threads_json(const std::vector<ThreadReport>& threads) {
  Json list = Json::array();
  for (const auto& [role, usage] : threads) {
    Json object;
    object["role"] = role;
    object["tid"] = usage.tid;
    object["cpus_allowed"] = usage.cpus_allowed;
    object["cpu_last"] = usage.cpu_last;
    object["cpu_s"] = usage.cpu_seconds;
    object["voluntary_switches"] = usage.voluntary_switches;
    object["involuntary_switches"] = usage.involuntary_switches;
    list.push_back(std::move(object));
  }
  return list;
}

Json wakes_json(const WakeCounts& counts) {
  Json object;
  for (std::size_t i = 0; i < counts.size(); ++i) object[wake_source_names[i]] = counts[i];
  return object;
}

Json verdict_json(const Verdict& verdict) {
  Json object;
  object["word"] = verdict.word;
  object["armed_phases"] = verdict.armed_phases;
  object["disarmed_phases"] = verdict.disarmed_phases;
  object["armed_s"] = verdict.armed_s;
  object["disarmed_s"] = verdict.disarmed_s;
  return object;
}

Json counts_json(const EventsReport::Counts& counts) {
  Json object = Json::object();
  for (const auto& [name, count] : counts) object[name] = count;
  return object;
}

Json events_json(const EventsReport& events) {
  Json object;
  object["sources"] = events.sources;
  object["wakes"] = counts_json(events.wakes);
  object["armed"] = counts_json(events.armed);
  object["busy"] = events.busy;
  object["lack"] = events.lack;
  return object;
}

Json doorbell_json(const DoorbellReport& doorbell) {
  Json object;
  object["neighbours"] = doorbell.neighbours;
  object["rings"] = doorbell.rings;
  object["bounded"] = doorbell.bounded;
  object["wakes"] = doorbell.wakes;
  object["answers"] = doorbell.answers;
  return object;
}

Json transport_json(const Transport& transport) {
  Json object;
  object["component"] = transport.component;
  object["libraries"] = transport.libraries;
  object["devices"] = transport.devices;
  object["tcp"] = transport.tcp;
  object["udp"] = transport.udp;
  return object;
}

// ---- as words

// "2 by calls, 10 by traffic, 0 by neighbours, 3 by timer"
std::string wake_words(const WakeCounts& counts) {
  std::string words;
  for (std::size_t i = 0; i < counts.size(); ++i)
    words += fmt::format("{}{} by {}", words.empty() ? "" : ", ", counts[i], wake_source_names[i]);
  return words;
}

// ", armed for 1.2 s and off for 0.1 s, 0.5 s with something pending while the program computed"
std::string time_words(const Report& report) {
  std::string words;
  if (report.armed_s)
    words += fmt::format(", armed for {:.3g} s and off for {:.3g} s", *report.armed_s, report.disarmed_s.value_or(0));
  if (report.pending_while_computing_s)
    words += fmt::format(", {}{:.3g} s with something pending while the program computed",
                         report.samples_rarely ? "at least " : "", *report.pending_while_computing_s);
  return words;
}

std::string work_words(const Report& report) {
  if (report.offload)
    return fmt::format("{} calls handed over, {} passes, {} naps", report.offload->commands, report.offload->passes,
                       report.offload->naps);
  return fmt::format("{} operations tracked, {} polls ({} moved something), {} wakes, {} parks", report.tracked,
                     report.polls, report.productive_polls, report.wakes, report.parks);
}

// "; helped: 1.20 ms an operation instead of 1.55 (in 12 phases with and 11 without)"
std::string verdict_words(const Verdict& verdict) {
  if (verdict.word == "not measured") return "";
  return fmt::format("; {}: {:.3g} ms an operation instead of {:.3g} (in {} phases with and {} without)", verdict.word,
                     1e3 * verdict.armed_s, 1e3 * verdict.disarmed_s, verdict.armed_phases, verdict.disarmed_phases);
}

// ", traffic announced by ucx (12 wakes)"
std::string event_words(const std::optional<EventsReport>& events) {
  if (!events) return "";
  std::string words;
  for (const auto& [name, count] : events->wakes)
    if (std::find(events->sources.begin(), events->sources.end(), name) != events->sources.end())
      words += fmt::format("{}{} ({} wakes)", words.empty() ? "" : " and ", name, count);
  return fmt::format(", traffic announced by {}{}", words.empty() ? "nothing" : words,
                     events->lack.empty() ? "" : ": " + events->lack);
}

}  // namespace

std::string to_json(const Report& report) {
  Json object;
  object["version"] = PE_VERSION;
  object["preset"] = report.preset;
  object["reason"] = report.reason;
  object["active"] = report.active;
  object["settings"] = settings_json(report.settings);
  object["driver"] = report.driver;
  object["driver_switches"] = report.driver_switches;
  object["wait"] = report.wait;
  object["wait_instruction"] = or_null(report.wait_instruction);
  object["thread_level"]["asked"] = report.level_asked;
  object["thread_level"]["provided"] = report.level_provided;
  object["offload"] = report.offload ? offload_json(*report.offload) : Json(nullptr);
  object["slice_ns"] = or_null(report.slice);
  object["threads"] = threads_json(report.threads);
  object["polls"] = report.polls;
  object["productive_polls"] = report.productive_polls;
  object["wakes"] = report.wakes;
  object["parks"] = report.parks;
  object["fences"] = report.fences;
  object["wake_sources"] = wakes_json(report.wake_sources);
  object["armed_s"] = or_null(report.armed_s);
  object["disarmed_s"] = or_null(report.disarmed_s);
  object["pending_while_computing_s"] = or_null(report.pending_while_computing_s);
  object["verdict"] = verdict_json(report.verdict);
  object["events"] = report.events ? events_json(*report.events) : Json(nullptr);
  object["doorbell"] = report.doorbell ? doorbell_json(*report.doorbell) : Json(nullptr);
  object["tracked"] = report.tracked;
  object["pending"] = report.pending;
  object["progress_users"] = report.progress_users;
  object["transport"] = transport_json(report.transport);
  object["advice"] = advice_of(report);
  object["managed_sleeps"] = report.managed_sleeps;
  object["world_size"] = or_null(report.world_size);
  object["mpi"] = report.mpi;
  object["abi"] = report.abi;
  // What is no UTF-8, in a file name of the settings, say, must not end the program.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_line(const Report& report) {
  const auto who = report.rank < 0 ? report.preset : fmt::format("rank {}: {}", report.rank, report.preset);
  if (!report.active) return fmt::format("progress engine: {}: inactive: {}", who, report.reason);
  double cpu = 0;
  std::uint64_t switches = 0;
  for (const auto& [role, usage] : report.threads) {
    cpu += usage.cpu_seconds;
    switches += usage.voluntary_switches + usage.involuntary_switches;
  }
  const auto sentence = advice_of(report);
  return fmt::format(
      "progress engine: {}: {} ({}){}, {} context switches, {:.3f} s of CPU, thread level {} asked and {} had, {} by "
      "{}, over {}{}{}{}{}",
      who, work_words(report), wake_words(report.wake_sources), time_words(report), switches, cpu, report.level_asked,
      report.level_provided, report.mpi, report.abi, report.transport.words(), event_words(report.events),
      report.driver.empty() ? "" : ", driver " + report.driver, verdict_words(report.verdict),
      sentence.empty() ? "" : "; " + sentence);
}

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
      name += next ? std::string{'%', next} : std::string(1, pattern[i]);
  }
  return name;
}

}  // namespace progress_engine
