// SPDX-License-Identifier: BSD-3-Clause
#include "policy/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/breakable.hpp"
#include "core/placement.hpp"
#include "presets_json.hpp"

namespace progress_engine {
namespace {

constexpr std::string_view prefix = "PROGRESS_ENGINE_";

// Variables with our prefix that are not settings.
constexpr std::array<std::string_view, 2> reserved = {"CONFIG", "LIBRARY"};

std::vector<std::string> words(std::string_view text, char separator) {
  std::vector<std::string> result;
  std::istringstream stream{std::string(text)};
  for (std::string word; std::getline(stream, word, separator);)
    if (!word.empty()) result.push_back(word);
  return result;
}

bool is_choice(const Setting& setting, std::string_view word) {
  return std::ranges::count(words(setting.choices, ' '), word) > 0;
}

const Setting* find(std::string_view key) {
  const auto& table = all_settings();
  const auto found = std::ranges::find(table, key, &Setting::key);
  return found == table.end() ? nullptr : &*found;
}

std::string known_keys() {
  std::vector<std::string_view> keys;
  for (const auto& setting : all_settings()) keys.push_back(setting.key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

bool accepts_int(const Setting& setting, std::string_view text) {
  long number = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc() && stop == end && number >= setting.minimum && number <= setting.maximum;
}

bool accepts_set(const Setting& setting, std::string_view text) {
  const auto parts = words(text, ',');
  return !parts.empty() && std::ranges::all_of(parts, [&](const auto& part) { return is_choice(setting, part); });
}

bool accepts(const Setting& setting, std::string_view text) {
  if (setting.type == "int") return accepts_int(setting, text);
  if (setting.type == "flag") return text == "0" || text == "1";
  if (setting.type == "choice") return is_choice(setting, text);
  if (setting.type == "set") return accepts_set(setting, text);
  return true;
}

std::string expectation(const Setting& setting) {
  if (setting.type == "int") return fmt::format("a whole number from {} to {}", setting.minimum, setting.maximum);
  if (setting.type == "flag") return "0 or 1";
  const auto names = fmt::format("{}", fmt::join(words(setting.choices, ' '), ", "));
  return setting.type == "set" ? "one or more of " + names + ", separated by commas" : "one of " + names;
}

PollingPoints parse_points(std::string_view text) {
  PollingPoints points;
  const auto parts = words(text, ',');
  const auto has = [&](std::string_view name) { return std::ranges::count(parts, name) > 0; };
  if (has("none") && parts.size() > 1)
    throw SettingError("points: 'none' cannot be combined with other polling points; leave it or them out.");
  points.on_calls = has("explicit");
  points.dedicated = has("dedicated");
  points.timer = has("timer");
  points.idle = has("idle");
  points.events = has("events");
  return points;
}

template <typename Enum>
Enum parse_choice(const Setting& setting, std::string_view text) {
  const auto names = words(setting.choices, ' ');
  return static_cast<Enum>(std::ranges::find(names, text) - names.begin());
}

void refuse_unsound(const Policy& policy) {
  if (policy.min_distance_us > policy.max_distance_us)
    throw SettingError(fmt::format("min_distance_us ({}) exceeds max_distance_us ({}): it must not.",
                                   policy.min_distance_us, policy.max_distance_us));
  if ((policy.placement == Placement::list) == parse_cpu_list(policy.cpus).empty())
    throw SettingError(fmt::format(
        "placement=list and cpus belong together, cpus='{}' does not fit: use placement=list with cpus=0-3,8 (say), or "
        "neither.",
        policy.cpus));
  if (policy.points.events && policy.trigger == Trigger::always)
    throw SettingError(
        "points=events waits for traffic, trigger=always polls without it: use trigger=pending or outside, or "
        "points=dedicated.");
  if (policy.points.events && policy.wait != Wait::epoll && policy.wait != Wait::timer)
    throw SettingError("points=events needs a wait that ends with traffic or time: use wait=epoll or wait=timer.");
  if (policy.points.dedicated && policy.wait == Wait::epoll)
    throw SettingError(
        "points=dedicated cannot wait for sockets: use points=events, or wait=spin, pause, yield, timer, mwait.");
  const bool waits_for_work = policy.wait == Wait::futex || policy.wait == Wait::mwait;
  if (policy.points.dedicated && waits_for_work && policy.trigger == Trigger::always)
    throw SettingError(
        fmt::format("wait={} waits until something is pending, trigger=always never does: use trigger=pending.",
                    policy.wait == Wait::futex ? "futex" : "mwait"));
  if (policy.managed_waiting && !policy.points.threads())
    throw SettingError(
        "waiting=managed sleeps until an engine thread has polled: it needs one of points=dedicated, "
        "timer, idle, events.");
  if (policy.offload && policy.points.any())
    throw SettingError("safety=offload polls in its one communication thread: use points=none.");
  if (policy.offload && policy.wait != Wait::epoll && policy.wait != Wait::spin)
    throw SettingError("safety=offload waits for traffic or spins: use wait=epoll or wait=spin.");
  if (policy.offload && policy.doorbell != DoorbellKind::none)
    throw SettingError("safety=offload has no thread that a doorbell could wake: use doorbell=none.");
  if (!std::has_single_bit(static_cast<unsigned>(policy.ring)))
    throw SettingError(fmt::format("ring={} is not valid: it must be a power of two.", policy.ring));
  if (policy.points.on_calls && policy.trigger == Trigger::outside)
    throw SettingError("points=explicit polls inside MPI calls, trigger=outside forbids that: use trigger=pending.");
}

}  // namespace

const std::vector<Setting>& all_settings() {
  // Never destroyed: a report is also written by an MPI_Finalize that runs at exit.
  static const auto& table = *new std::vector<Setting>{
      {"points", "set", "", "none explicit dedicated timer idle events", 0, 0, "events", "where polling happens"},
      {"trigger", "choice", "", "always pending outside", 0, 0, "outside",
       "when it may poll: always, while an operation is pending, or pending and no thread inside MPI"},
      {"wait", "choice", "", "spin pause yield timer mwait futex epoll", 0, 0, "epoll",
       "how a dedicated or event thread waits between polls"},
      {"placement", "choice", "", "free spare list", 0, 0, "free",
       "where engine threads run: anywhere the program may; on CPUs of its own that neither it nor another process of "
       "the same program on this node needs, where there are such; on those named in cpus"},
      {"cpus", "text", "", "", 0, 0, "", "the CPUs of placement=list, as in 0-3,8"},
      {"slice_us", "int", "us", "", 0, 100000, "0",
       "scheduling slice asked for engine threads, 0 = the scheduler's own (Linux 6.12 or newer grants it)"},
      {"nice", "int", "", "", 0, 19, "0", "nice level of engine threads"},
      {"idle_threads", "int", "", "", 1, 1024, "1",
       "number of SCHED_IDLE threads of points=idle; of nice 19 where the process lacks CAP_SYS_NICE and RLIMIT_NICE"},
      {"idle_us", "int", "us", "", 0, 1000000, "10", "pause between the polls of an idle thread, 0 = only yield"},
      {"timer_us", "int", "us", "", 10, 1000000, "2000",
       "period of the timer thread, of wait=timer and of wait=mwait; of points=events the first wait for traffic, "
       "which doubles while "
       "nothing moves, up to eight times"},
      {"burst", "int", "polls", "", 1, 1000, "3", "polls in a row that must move nothing before a burst ends"},
      {"min_distance_us", "int", "us", "", 0, 1000000, "100", "least distance between two wakes of points=events"},
      {"start_distance_us", "int", "us", "", 0, 1000000, "500", "distance between wakes with which a phase begins"},
      {"max_distance_us", "int", "us", "", 1, 1000000, "4000",
       "greatest distance between two wakes that the control may choose"},
      {"rest_us", "int", "us", "", 0, 1000000, "10000",
       "how long points=events leaves the program alone when polling did not pay; doubles up to eight times, 0 = "
       "never"},
      {"park_s", "int", "s", "", 1, 86400, "60",
       "longest sleep of a parked thread: bounds what a lost wake-up can cost"},
      {"doorbell", "choice", "", "none node rma", 0, 0, "none",
       "whom a call that sends wakes: nobody; the engine of a receiver on this node; as an experiment also others, by "
       "MPI_Put (rma: all ranks must have it, since it makes a window over MPI_COMM_WORLD)"},
      {"rma_bytes", "int", "bytes", "", 0, 1073741824, "65536", "doorbell=rma: the smallest message that rings"},
      {"waiting", "choice", "", "native managed", 0, 0, "native",
       "how the program waits in a blocking call: as the MPI does, or asleep until an engine thread has completed it"},
      {"safety", "choice", "", "multiple offload", 0, 0, "multiple",
       "how many threads may call MPI at once: by the MPI's own MPI_THREAD_MULTIPLE, or because one thread makes every "
       "call"},
      {"ring", "int", "commands", "", 2, 1048576, "4096", "safety=offload: size of the command ring, a power of two"},
      {"spin_us", "int", "us", "", 0, 1000000, "20",
       "waiting=managed, safety=offload: how long a waiting thread (and the communication thread) spins before it "
       "sleeps, if this process has more than one CPU"},
      {"awaited_spin_us", "int", "us", "", 0, 1000000, "10000",
       "safety=offload: how long the communication thread spins, with a turn for others at each pass, while a thread "
       "of the program waits"},
      {"nap_us", "int", "us", "", 50, 1000000, "1000",
       "safety=offload: longest sleep of the communication thread while something is pending and no traffic wakes it"},
      {"inline_bytes", "int", "bytes", "", 0, 64, "64",
       "safety=offload: MPI_Send of so much of a predefined type is copied and returns at once"},
      {"ult", "choice", "", "auto block", 0, 0, "auto",
       "safety=offload: a user-level thread that no adapter knows ends the program, or blocks its kernel thread"},
      {"ult_wait", "choice", "", "lead remove reinsert", 0, 0, "lead",
       "safety=offload: a waiting user-level thread leaves the ready queue until completion, or tests at each turn; "
       "lead = the former, but one at a time stands in for a communication thread that has no CPU of its own"},
      {"driver", "choice", "", "auto stream test status", 0, 0, "auto",
       "what a poll is: MPIX_Stream_progress, or MPI_Test or MPI_Request_get_status on a pending receive from oneself; "
       "auto = the first that the MPI has, and the next when it moves nothing"},
      {"strict", "flag", "", "", 0, 0, "0", "1 = a program that the engine cannot help is ended, not run without it"},
      {"trial_ms", "int", "ms", "", 0, 60000, "0",
       "go off and on by turns, each for that long, so that the verdict at the end is measured; 0 = never"},
      {"pcontrol", "flag", "", "", 0, 0, "0",
       "1 = MPI_Pcontrol(0) switches polling off, MPI_Pcontrol(1) on again; else they are the profilers' alone"},
      {"report", "flag", "", "", 0, 0, "0", "1 = one line a rank on stderr at MPI_Finalize"},
      {"report_file", "text", "", "", 0, 0, "", "write the JSON report there; %r = rank, %p = process, %h = host"},
  };
  return table;
}

const nlohmann::ordered_json& all_presets() {
  static const auto& presets = *new auto(nlohmann::ordered_json::parse(presets_json));  // never destroyed
  return presets;
}

std::string preset_names() {
  std::vector<std::string> names;
  for (const auto& [name, preset] : all_presets().items()) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_value(std::string_view key, std::string_view value) {
  const Setting* setting = find(key);
  if (!setting) throw SettingError(fmt::format("unknown setting '{}': the settings are {}.", key, known_keys()));
  if (!accepts(*setting, value))
    throw SettingError(fmt::format("{}={} is not valid: it must be {}.", key, value, expectation(*setting)));
}

Values resolve_values(std::string_view preset, const Values& overrides) {
  const auto found = all_presets().find(std::string(preset));
  if (found == all_presets().end())
    throw SettingError(fmt::format("unknown variant '{}': the variants are {}.", preset, preset_names()));
  Values values;
  for (const auto& setting : all_settings()) values[std::string(setting.key)] = setting.initial;
  for (const auto& [key, value] : (*found)["settings"].items())
    values[key] = value.is_string() ? value.get<std::string>() : value.dump();
  for (const auto& [key, value] : overrides) {
    check_value(key, value);
    values[key] = value;
  }
  return values;
}

Policy make_policy(const Values& values) {
  for (const auto& [key, value] : values) check_value(key, value);
  const auto number = [&](std::string_view key) { return std::stoi(values.find(key)->second); };
  const auto text = [&](std::string_view key) { return values.find(key)->second; };
  Policy policy;
  policy.points = parse_points(text("points"));
  policy.trigger = parse_choice<Trigger>(*find("trigger"), text("trigger"));
  policy.wait = parse_choice<Wait>(*find("wait"), text("wait"));
  policy.placement = parse_choice<Placement>(*find("placement"), text("placement"));
  policy.cpus = text("cpus");
  policy.slice_us = number("slice_us");
  policy.nice = number("nice");
  policy.idle_threads = number("idle_threads");
  policy.idle_us = number("idle_us");
  policy.timer_us = number("timer_us");
  policy.burst = number("burst");
  policy.min_distance_us = number("min_distance_us");
  policy.start_distance_us = number("start_distance_us");
  policy.max_distance_us = number("max_distance_us");
  policy.rest_us = number("rest_us");
  policy.park_s = number("park_s");
  policy.doorbell = parse_choice<DoorbellKind>(*find("doorbell"), text("doorbell"));
  policy.rma_bytes = number("rma_bytes");
  policy.managed_waiting = text("waiting") == "managed";
  policy.offload = text("safety") == "offload";
  policy.ring = number("ring");
  policy.spin_us = number("spin_us");
  policy.awaited_spin_us = number("awaited_spin_us");
  policy.nap_us = number("nap_us");
  policy.inline_bytes = number("inline_bytes");
  policy.ult = text("ult");
  policy.ult_wait = text("ult_wait");
  policy.trial_ms = number("trial_ms");
  policy.driver = text("driver");
  policy.strict = text("strict") == "1";
  policy.pcontrol = text("pcontrol") == "1";
  policy.report = text("report") == "1";
  policy.report_file = text("report_file");
  refuse_unsound(policy);
  return policy;
}

std::string environment_name(std::string_view key) {
  std::string name(prefix);
  for (const char c : key) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Values overrides_from_environment(char* const* environment) {
  Values overrides;
  for (; environment && *environment; ++environment) {
    const std::string_view entry(*environment);
    const auto equals = entry.find('=');
    if (!entry.starts_with(prefix) || equals == std::string_view::npos) continue;
    const auto name = entry.substr(prefix.size(), equals - prefix.size());
    if (std::ranges::count(reserved, name) > 0 || (breakable && name == "BREAK")) continue;
    std::string key;
    for (const char c : name) key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!find(key))
      throw SettingError(fmt::format("{}{} is not a setting: the settings are {}.", prefix, name, known_keys()));
    overrides.emplace(key, entry.substr(equals + 1));
  }
  return overrides;
}

}  // namespace progress_engine
