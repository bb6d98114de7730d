// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace progress_engine {
namespace {

using Json = nlohmann::ordered_json;

// ---- as JSON, by the lists of fields.hpp

template <typename Type>
concept Listed = requires(Type& value) { Type::each(value, [](const char*, auto&) {}); };

template <typename Type>
Json written(const Type& value);

template <typename Type>
Json written(const std::optional<Type>& value) {
  return value ? written(*value) : Json(nullptr);
}

template <typename Type>
Json written(const std::vector<Type>& values) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(written(value));
  return list;
}

Json written(const std::vector<SettingReport>& settings) {
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

Json written(const NamedCounts& counts) {
  Json object = Json::object();
  for (const auto& [name, count] : counts) object[name] = count;
  return object;
}

Json written(const WakeCounts& counts) {
  Json object;
  for (std::size_t i = 0; i < counts.size(); ++i) object[wake_source_names[i]] = counts[i];
  return object;
}

template <typename Type>
Json written(const Type& value) {
  if constexpr (Listed<const Type>) {
    Json object;
    Type::each(value, [&](const char* key, const auto& member) { object[key] = written(member); });
    return object;
  } else {
    return Json(value);
  }
}

template <typename Type>
void read(const Json& json, Type& value);

template <typename Type>
void read(const Json& json, std::optional<Type>& value) {
  if (json.is_null())
    value.reset();
  else
    read(json, value.emplace());
}

template <typename Type>
void read(const Json& json, std::vector<Type>& values) {
  for (const auto& one : json) read(one, values.emplace_back());
}

void read(const Json& json, std::vector<SettingReport>& settings) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_string())
      settings.push_back({key, "text", value.get<std::string>()});
    else if (value.is_boolean())
      settings.push_back({key, "flag", std::to_string(int{value})});
    else
      settings.push_back({key, "int", value.dump()});
  }
}

void read(const Json& json, NamedCounts& counts) {
  for (const auto& [name, count] : json.items()) counts.emplace_back(name, count);
}

void read(const Json& json, WakeCounts& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = json.value(wake_source_names[i], counts[i]);
}

template <typename Type>
void read(const Json& json, Type& value) {
  if constexpr (Listed<Type>)
    Type::each(value, [&](const char* key, auto& member) {
      if (const auto found = json.find(key); found != json.end()) read(*found, member);
    });
  else
    json.get_to(value);
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

std::string doorbell_words(const std::optional<DoorbellReport>& doorbell) {
  const auto unreached = doorbell ? doorbell->unreached : 0;
  return unreached == 0 ? "" : fmt::format(", neighbours on this node without a doorbell: {}", unreached);
}

// "; into others' windows 300 operations, 0.012 s in calls that wait for them; 9 polls moved something of others ..."
std::string window_words(const Report& report) {
  if (!report.windows || report.offload) return "";
  return fmt::format(
      "; into others' windows {} operations, {:.3g} s in calls that wait for them; {} polls moved "
      "something of others into or out of its own",
      report.window_operations, report.window_wait_s, report.window_answers);
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

// What is no UTF-8, in a file name of the settings, say, must not end the program.
std::string to_json(const Report& report) {
  return written(report).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Report from_json(const std::string& text) {
  Report report;
  read(Json::parse(text), report);
  return report;
}

Cost cost_of(const Report& report) {
  Cost cost;
  for (const auto& thread : report.threads) {
    cost.cpu_s += thread.cpu_s;
    cost.switches += thread.voluntary_switches + thread.involuntary_switches;
  }
  return cost;
}

std::string to_line(const Report& report) {
  const auto who = report.rank < 0 ? report.preset : fmt::format("rank {}: {}", report.rank, report.preset);
  if (!report.active) return fmt::format("progress engine: {}: inactive: {}", who, report.reason);
  const auto [cpu, switches] = cost_of(report);
  return fmt::format(
      "progress engine: {}: {} ({}){}, {} context switches, {:.3f} s of CPU, thread level {} asked and {} had, {} by "
      "{}, over {}{}{}{}{}{}",
      who, work_words(report), wake_words(report.wake_sources), time_words(report), switches, cpu,
      report.thread_level.asked, report.thread_level.provided, report.mpi, report.abi, report.transport.words(),
      event_words(report.events), doorbell_words(report.doorbell),
      report.driver.empty() ? "" : ", driver " + report.driver, window_words(report), verdict_words(report.verdict));
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
