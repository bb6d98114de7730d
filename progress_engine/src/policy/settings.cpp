// SPDX-License-Identifier: BSD-3-Clause
#include "policy/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>
#include <type_traits>

#include "platform/breakable.hpp"
#include "platform/placement.hpp"
#include "presets_json.hpp"

namespace progress_engine {
namespace {

// The words of a list, as settings and their choices have them, without empty ones.
std::vector<std::string> words(std::string_view text, char separator) {
  std::vector<std::string> result;
  std::istringstream stream{std::string(text)};
  for (std::string word; std::getline(stream, word, separator);)
    if (!word.empty()) result.push_back(word);
  return result;
}

constexpr std::string_view prefix = "PROGRESS_ENGINE_";

// Variables with our prefix that are not settings.
constexpr std::array<std::string_view, 6> reserved = {"CHOICES", "CONFIG", "LAUNCHER", "LIBRARY", "MARK", "TARGET"};

// What is no setting, or no value of one, any more: and what to write instead. Refused for a release, then forgotten.
struct Gone {
  std::string_view key;
  std::string_view value;  // of a setting that there still is; empty: there is none
  std::string_view instead;
};
constexpr std::string_view no_bell =
    "use doorbell=auto; between nodes sockets, the fabric's library (setting events) or the timer (timer_us) wake the "
    "engine";
constexpr std::array gone = {
    Gone{"queue", "", "its 4096 commands are enough; leave it out"},
    Gone{"ring", "", "its 4096 commands are enough; leave it out"},
    Gone{"awaited_spin_us", "", "it is 10 ms; leave it out"},
    Gone{"nap_us", "", "it is 1 ms; leave it out"},
    Gone{"inline_bytes", "", "it is 64, and 0 with gpu=poll; leave it out"},
    Gone{"ult_wait", "", "call pe_set_ult_waiting in the program"},
    Gone{"spin_us", "", "it is 20 us; leave it out"},
    Gone{"park_s", "", "it is a minute; leave it out"},
    Gone{"nice", "", "use points=idle, whose threads run where a CPU is idle, or start the program under nice(1)"},
    Gone{"idle_threads", "", "it is one thread; leave it out"},
    Gone{"bell_bytes", "", no_bell},
    Gone{"bell_hosts", "", no_bell},
    Gone{"bell_key", "", no_bell},
    Gone{"bell_port", "", no_bell},
    Gone{"doorbell", "udp", no_bell},
    Gone{"driver", "status", "use driver=test, which asks the MPI for the same"},
    Gone{"wait", "pause", "use wait=spin"},
    Gone{"wait", "yield", "use wait=spin, with points=idle where others need the CPU"},
    Gone{"wait", "futex", "use wait=epoll with points=events, which sleeps while nothing is pending"},
};

const Gone* find_gone(std::string_view key, std::string_view value) {
  const auto is_it = [&](const Gone& one) {
    return one.key == key && (one.value.empty() || std::ranges::count(words(value, ','), one.value) > 0);
  };
  const auto* const found = std::ranges::find_if(gone, is_it);
  return found == gone.end() ? nullptr : &*found;
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

// Of a name that no setting has: what to write.
std::string instead_of(std::string_view key) {
  const Gone* const was = find_gone(key, "");
  return was ? fmt::format("it is gone: {}", was->instead) : "the settings are " + known_keys();
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

// ---- one row of the table, for each type of a setting; `field` is where its value goes

template <auto field>
Setting number(std::string_view key, std::string_view unit, long minimum, long maximum, std::string_view initial,
               std::string_view meaning) {
  const auto store = [](Policy& policy, const Setting&, std::string_view value) {
    policy.*field = std::stoi(std::string(value));
  };
  return {key, "int", unit, "", minimum, maximum, initial, meaning, store};
}

template <auto field>
Setting flag(std::string_view key, std::string_view initial, std::string_view meaning) {
  const auto store = [](Policy& policy, const Setting&, std::string_view value) { policy.*field = value == "1"; };
  return {key, "flag", "", "", 0, 0, initial, meaning, store};
}

template <auto field>
Setting text(std::string_view key, std::string_view meaning) {
  const auto store = [](Policy& policy, const Setting&, std::string_view value) { policy.*field = value; };
  return {key, "text", "", "", 0, 0, "", meaning, store};
}

// Into an enumeration whose values are in the order of the choices, a bool that is true for the second, or the word.
template <auto field>
Setting choice(std::string_view key, std::string_view choices, std::string_view initial, std::string_view meaning) {
  const auto store = [](Policy& policy, const Setting& setting, std::string_view value) {
    auto& target = policy.*field;
    const auto names = words(setting.choices, ' ');
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(target)>, std::string>)
      target = value;
    else
      target = static_cast<std::remove_reference_t<decltype(target)>>(std::ranges::find(names, value) - names.begin());
  };
  return {key, "choice", "", choices, 0, 0, initial, meaning, store};
}

Setting polling_points(std::string_view key, std::string_view choices, std::string_view initial,
                       std::string_view meaning) {
  const auto store = [](Policy& policy, const Setting&, std::string_view value) {
    policy.points = parse_points(value);
  };
  return {key, "set", "", choices, 0, 0, initial, meaning, store};
}

}  // namespace

const std::vector<Setting>& all_settings() {
  // Never destroyed: a report is also written by an MPI_Finalize that runs at exit.
  static const auto& table = *new std::vector<Setting>{
      polling_points("points", "none explicit dedicated timer idle events", "events", "where polling happens"),
      choice<&Policy::trigger>(
          "trigger", "always pending outside", "outside",
          "when it may poll: always, while an operation is pending, or pending and no thread inside MPI"),
      choice<&Policy::wait>("wait", "spin timer mwait epoll", "epoll",
                            "how a dedicated or event thread waits between polls"),
      choice<&Policy::placement>("placement", "free spare list", "free",
                                 "where engine threads run: anywhere the program may; on its CPUs that no process of "
                                 "the same program on this node needs, if there are any; on those in cpus"),
      text<&Policy::cpus>("cpus", "the CPUs of placement=list, as in 0-3,8"),
      number<&Policy::slice_us>(
          "slice_us", "us", 0, 100000, "0",
          "scheduling slice asked for engine threads, 0 = the scheduler's own (Linux 6.12 or newer grants it)"),
      number<&Policy::idle_us>("idle_us", "us", 0, 1000000, "10",
                               "pause between the polls of an idle thread, 0 = only yield"),
      number<&Policy::timer_us>(
          "timer_us", "us", 10, 1000000, "2000",
          "period of the timer thread, of wait=timer and of wait=mwait; of points=events the first wait for traffic, "
          "which doubles while "
          "nothing moves, up to eight times"),
      number<&Policy::burst>("burst", "polls", 1, 1000, "3",
                             "polls in a row that must move nothing before a burst ends"),
      number<&Policy::min_distance_us>("min_distance_us", "us", 0, 1000000, "100",
                                       "shortest polling interval of points=events"),
      number<&Policy::start_distance_us>("start_distance_us", "us", 0, 1000000, "500",
                                         "polling interval with which a busy period begins"),
      number<&Policy::max_distance_us>("max_distance_us", "us", 1, 1000000, "4000",
                                       "longest polling interval that the control may choose"),
      number<&Policy::rest_us>("rest_us", "us", 0, 1000000, "10000",
                               "backoff of points=events: how long it does not poll when polling did not pay; grows "
                               "up to 64 times, "
                               "0 = never"),
      number<&Policy::eager_bytes>(
          "eager_bytes", "bytes", 0, 1048576, "0",
          "trigger=pending and outside: no polls while nothing is pending but messages no longer than this (MPI_Isend, "
          "MPI_Irsend, MPI_Irecv), in all at most eight times as long. Those the MPI sends at once, and they arrive "
          "without anybody's progress; 0 = polls for each message"),
      choice<&Policy::events>(
          "events", "auto sockets ucx libfabric verbs none", "auto",
          "what announces traffic to points=events: the MPI's TCP sockets; UCX, by a descriptor a worker (its feature "
          "WAKEUP is added). Libfabric has one a completion queue (opened with FI_WAIT_FD). Verbs has one a completion "
          "queue that the MPI makes itself (it gets a completion channel). None leaves the doorbell and the timer; "
          "auto = sockets, and where this machine has a fabric's device UCX, libfabric, and verbs if it is neither"),
      choice<&Policy::doorbell>("doorbell", "none node auto", "none",
                                "whom a call that sends wakes: nobody; the engine of a receiver on this node; auto = "
                                "the same, and nobody where no doorbell can be made"),
      choice<&Policy::managed_waiting>("waiting", "native managed", "native",
                                       "how the program waits in a blocking call: as the MPI does, or asleep until an "
                                       "engine thread has completed it"),
      choice<&Policy::offload>("safety", "multiple offload", "multiple",
                               "how many threads may call MPI at once: by the MPI's own MPI_THREAD_MULTIPLE, or "
                               "because one thread makes every call"),
      choice<&Policy::collectives>(
          "collectives", "auto blocking nonblocking", "auto",
          "safety=offload: whether blocking collective calls stay so. Nonblocking keeps nobody else waiting, but all "
          "ranks must have it. Auto = blocking, by the calling thread itself where the program has "
          "MPI_THREAD_MULTIPLE, and nonblocking where user-level threads call"),
      choice<&Policy::ult>(
          "ult", "auto block", "auto",
          "safety=offload: a user-level thread that no adapter knows ends the program, or blocks its kernel thread"),
      choice<&Policy::driver>("driver", "auto stream test", "auto",
                              "what a poll is: MPIX_Stream_progress, or MPI_Test of a pending receive from oneself; "
                              "auto = the first that the MPI has, and the next when it moves nothing"),
      flag<&Policy::strict>("strict", "0", "1 = a program that the engine cannot help is ended, not run without it"),
      number<&Policy::trial_ms>(
          "trial_ms", "ms", 0, 60000, "0",
          "go off and on by turns, each for that long, so that the verdict at the end is measured; 0 = never"),
      flag<&Policy::pcontrol>(
          "pcontrol", "0",
          "1 = MPI_Pcontrol(0) switches polling off, MPI_Pcontrol(1) on again; else they are the profilers' alone"),
      choice<&Policy::beside_gpus>(
          "gpu", "refuse context poll", "refuse",
          "where a GPU's library is loaded and the MPI takes its memory: no thread of the engine's polls, since it has "
          "no context. Or each takes the context that CUDA's runtime has given the program, and polls; or they poll "
          "all the same"),
      choice<&Policy::report>(
          "report", "0 1 full", "0",
          "on stderr when MPI ends: nothing; one sentence of all ranks that progress-run has started on this node; and "
          "behind it the counters, a line a rank"),
      text<&Policy::report_file>("report_file", "write the JSON report there; %r = rank, %p = process, %h = host"),
      text<&Policy::profile>("profile",
                             "a folder: each process writes there how long which of its calls waited, and for what "
                             "(./bench where reads it); an absolute path, of progress-run any"),
      number<&Policy::profile_depth>("profile_depth", "", 1, 64, "1",
                                     "how many frames of the program's tell a call site in the profile"),
      choice<&Policy::profile_regions>("profile_regions", "off levels names", "off",
                                       "which regions a program names for the profile: those of MPI_Pcontrol(1, name) "
                                       "and MPI_Pcontrol(-1, name), or "
                                       "by MPI_Pcontrol(n) region n"),
      flag<&Policy::profile_clocks>("profile_clocks", "0",
                                    "1 = the clocks of the nodes are compared at MPI_Init and MPI_Finalize: only where "
                                    "all processes of the launch are profiled, since they wait for each other"),
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

Reporting reporting_named(std::string_view word) {
  if (word == "full") return Reporting::full;
  return word == "1" ? Reporting::job : Reporting::none;
}

void check_value(std::string_view key, std::string_view value) {
  const Setting* setting = find(key);
  if (!setting) throw SettingError(fmt::format("unknown setting '{}': {}.", key, instead_of(key)));
  if (const Gone* const was = find_gone(key, value))
    throw SettingError(fmt::format("{}={} is gone: {}.", key, value, was->instead));
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

namespace {

// ---- settings that do not go together, each valid by itself

// As the user writes it.
std::string choice_of(std::string_view key, std::size_t number) {
  return words(std::ranges::find(all_settings(), key, &Setting::key)->choices, ' ')[number];
}

void refuse_events(const Policy& policy) {
  if (policy.points.events && policy.trigger == Trigger::always)
    throw SettingError(
        "points=events waits for traffic, trigger=always polls without it: use trigger=pending or outside, or "
        "points=dedicated.");
  if (policy.points.events && policy.wait != Wait::epoll && policy.wait != Wait::timer)
    throw SettingError("points=events needs a wait that ends with traffic or time: use wait=epoll or wait=timer.");
  constexpr std::array without_library = {Announcements::automatic, Announcements::sockets, Announcements::none};
  const bool by_library = std::ranges::count(without_library, policy.events) == 0;
  if (by_library && (!policy.points.events || policy.wait != Wait::epoll))
    throw SettingError(
        fmt::format("events={} needs a thread that waits for descriptors: use points=events and wait=epoll.",
                    choice_of("events", static_cast<std::size_t>(policy.events))));
}

void refuse_combinations(const Policy& policy) {
  if (policy.min_distance_us > policy.max_distance_us)
    throw SettingError(fmt::format("min_distance_us ({}) exceeds max_distance_us ({}): it must not.",
                                   policy.min_distance_us, policy.max_distance_us));
  if ((policy.placement == Placement::list) == parse_cpu_list(policy.cpus).empty())
    throw SettingError(fmt::format(
        "placement=list and cpus belong together, cpus='{}' does not fit: use placement=list with cpus=0-3,8 (say), or "
        "neither.",
        policy.cpus));
  refuse_events(policy);
  if (policy.points.dedicated && policy.wait == Wait::epoll)
    throw SettingError("points=dedicated cannot wait for sockets: use points=events, or wait=spin, timer, mwait.");
  if (policy.points.dedicated && policy.wait == Wait::mwait && policy.trigger == Trigger::always)
    throw SettingError("wait=mwait waits until something is pending, trigger=always never does: use trigger=pending.");
  if (policy.managed_waiting && !policy.points.threads())
    throw SettingError(
        "waiting=managed sleeps until an engine thread has polled: it needs one of points=dedicated, "
        "timer, idle, events.");
  if (policy.offload && policy.points.any())
    throw SettingError("safety=offload polls in its one communication thread: use points=none.");
  if (policy.offload && policy.wait != Wait::epoll && policy.wait != Wait::spin)
    throw SettingError("safety=offload waits for traffic or spins: use wait=epoll or wait=spin.");
  if (policy.offload && policy.doorbell != Ringing::none)
    throw SettingError("safety=offload has no thread that a doorbell could wake: use doorbell=none.");
  if (policy.points.on_calls && policy.trigger == Trigger::outside)
    throw SettingError("points=explicit polls inside MPI calls, trigger=outside forbids that: use trigger=pending.");
}
}  // namespace

Policy make_policy(const Values& values) {
  for (const auto& [key, value] : values) check_value(key, value);
  Policy policy;
  for (const auto& setting : all_settings()) setting.store(policy, setting, values.find(setting.key)->second);
  refuse_combinations(policy);
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
    if (!find(key)) throw SettingError(fmt::format("{}{} is not a setting: {}.", prefix, name, instead_of(key)));
    overrides.emplace(key, entry.substr(equals + 1));
  }
  return overrides;
}

}  // namespace progress_engine
