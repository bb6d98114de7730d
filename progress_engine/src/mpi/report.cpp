// SPDX-License-Identifier: BSD-3-Clause

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <utility>

#include "fabrics/fabrics.hpp"
#include "mpi/launcher.hpp"
#include "mpi/lifecycle.hpp"
#include "mpi/mpi_header.hpp"
#include "telemetry/advice.hpp"

namespace progress_engine {
namespace {

ThreadReport describe_thread(const Worker& worker) {
  const bool ended = worker.ended.load(std::memory_order_acquire);
  return report_of_thread(worker.role, ended ? worker.final_usage : usage_of_thread(worker.tid));
}

// Who was missed is looked for once more: he may have come after the last look.
std::optional<DoorbellReport> describe_doorbell(Engine* engine) {
  Doorbell* doorbell = engine ? engine->doorbell() : nullptr;
  if (!doorbell) return std::nullopt;
  doorbell->look_around();
  std::uint64_t answers = 0;
  for (const auto& worker : engine->workers()) answers += worker->answers;
  const auto counts = doorbell->counts();
  return DoorbellReport{.neighbours = counts.neighbours,
                        .unreached = counts.unreached,
                        .rings = engine->activity().rings() + counts.rings,
                        .bounded = counts.bounded,
                        .wakes = counts.wakes,
                        .answers = answers};
}

std::string what_is_missing(const Policy& policy) {
  std::string lack = what_lacks(policy.events, fabrics_of_process());
  if (status().doorbell_lack.empty()) return lack;
  return lack.append(lack.empty() ? "" : "; ").append("no doorbell: ").append(status().doorbell_lack);
}

// What announced traffic, by what it was there for; no value where nobody waited for any.
std::optional<EventsReport> describe_events(Engine* engine) {
  const EventSource* events = engine ? engine->events() : nullptr;
  if (!events) return std::nullopt;
  const auto counts = events->counts();
  EventsReport report{.sources = sources_in_use(*events),
                      .wakes = {{"sockets", counts.by_sockets}},
                      .armed = {},
                      .busy = counts.busy,
                      .lack = what_is_missing(engine->policy())};
  for (std::size_t i = 0; i < fabric_names.size(); ++i) {
    report.wakes.emplace_back(fabric_names[i], counts.by_fabric[i]);
    report.armed.emplace_back(fabric_names[i], counts.armed[i]);
  }
  return report;
}

struct Totals {
  Nanoseconds disarmed = 0;
  Nanoseconds beside = 0;  // each thread of the engine's sees the same
};

void add(const Worker& worker, Report& report, Totals& totals) {
  report.polls += worker.polls;
  report.productive_polls += worker.productive_polls;
  report.wakes += worker.wakes;
  report.parks += worker.parks;
  report.fences += worker.fences;
  report.window_answers += worker.for_others;
  for (std::size_t i = 0; i < report.wake_sources.size(); ++i) report.wake_sources[i] += worker.wake_sources[i];
  totals.disarmed += worker.disarmed;
  totals.beside = std::max(totals.beside, worker.beside.load());
}

double to_seconds(Nanoseconds time) { return 1e-9 * static_cast<double>(time); }

// What the engine's threads did, for how long it could work, and what for; no value where nobody looked.
void add_engine(const Engine& engine, Report& report) {
  Totals totals;
  add(engine.calls(), report, totals);
  for (const auto& worker : engine.workers()) {
    add(*worker, report, totals);
    report.threads.push_back(describe_thread(*worker));
    if (worker->slice > 0 && !worker->idle_class) report.slice_ns = worker->slice.load();
  }
  report.armed_s = to_seconds(engine.time_on() - totals.disarmed);
  report.disarmed_s = to_seconds(engine.time_off() + totals.disarmed);
  const Policy& policy = engine.policy();
  report.waits_for_announcements = policy.points.events || (policy.points.dedicated && policy.wait == Wait::mwait);
  report.samples_rarely = std::ranges::any_of(engine.workers(), [](const auto& worker) { return worker->idle_class; });
  if (!engine.workers().empty()) report.pending_while_computing_s = to_seconds(totals.beside);
  report.verdict = engine.verdict();
  report.tracked = engine.activity().started();
  report.window_operations = engine.activity().window_operations();
  report.window_wait_s = to_seconds(engine.activity().window_wait());
  report.large = engine.activity().weight() / Activity::unbounded;
  report.pending = engine.activity().pending();
  report.progress_users = engine.activity().progress_users();
}

// The same of the communication thread.
void add_offload(const OffloadReport& offload, Report& report) {
  report.threads.push_back(report_of_thread("communication", offload.thread));
  report.slice_ns = offload.slice_ns;
  const auto announced = offload.traffic + offload.rings;
  report.wake_sources = {offload.rings, offload.traffic, 0, offload.naps - std::min(offload.naps, announced)};
  report.armed_s = offload.lifetime_s;
  report.disarmed_s = 0;
  report.pending_while_computing_s = offload.pending_while_computing_s;
  report.offload = offload;
}

std::vector<SettingReport> settings_in_order() {
  std::vector<SettingReport> settings;
  for (const auto& setting : all_settings()) {
    const auto value = status().settings.find(setting.key);
    if (value == status().settings.end()) continue;
    settings.push_back({value->first, std::string(setting.type), value->second});
  }
  return settings;
}

// Why the engine is inactive, or has become so.
std::string reason() {
  const Runtime* runtime = status().runtime;
  const GpuKind* gpu = runtime ? runtime->gpu.load() : gpu_under_offload();
  return gpu && status().reason.empty() ? why_no_polling(*gpu) : status().reason;
}

}  // namespace

Report make_report() {
  const Status& now = status();
  const Runtime* active = active_runtime.load(std::memory_order_acquire);
  Report report;
  report.rank = now.rank;
  if (now.world_size >= 0) report.world_size = now.world_size;
  report.preset = now.preset;
  report.reason = reason();
  report.active = now.was_active && report.reason.empty();
  report.settings = settings_in_order();
  report.driver = active ? active->progress->name() : now.driver;
  report.driver_switches = active ? active->progress->switches() : now.driver_switches;
  if (const auto wait = now.settings.find("wait"); wait != now.settings.end()) report.wait = wait->second;
  if (report.wait == "mwait") report.wait_instruction = wait_instruction_name(wait_instruction());
  report.thread_level = {level_name(now.level_asked), level_name(now.level_provided)};
  Engine* engine = now.runtime ? now.runtime->engine.get() : nullptr;
  if (engine) add_engine(*engine, report);
  const OffloadLibrary* library = loaded_offload();
  if (const auto offload = library ? library->describe() : std::nullopt) add_offload(*offload, report);
  report.events = describe_events(engine);
  report.doorbell = describe_doorbell(engine);
  report.transport = look_at_transport();
  report.mpi = short_description(description_of_this_mpi());
  report.abi = PE_BUILT_FOR;
  if (now.runtime && now.runtime->waits) report.managed_sleeps = now.runtime->waits->sleeps();
  report.windows = report.offload ? report.offload->windows
                                  : now.runtime && now.runtime->had_windows.load(std::memory_order_relaxed);
  report.advice = advice_of(report);
  return report;
}

Report make_report_if_possible() {
  const std::unique_lock lock(lifecycle_mutex(), std::try_to_lock);
  if (lock) return make_report();
  Report report;
  report.reason = "MPI begins or ends in another thread at this moment";
  report.thread_level = {level_name(-1), level_name(-1)};
  return report;
}

// Whoever has started progress-run tells of all ranks at once; without it each tells of itself.
void write_report() {
  const auto asked = status().report;
  if (asked == Reporting::none && status().report_file.empty()) return;
  const Report report = make_report();
  const auto text = to_json(report) + "\n";
  if (asked != Reporting::none && !leave_mark(text)) {
    std::fputs(sentences({report}).c_str(), stderr);
    if (asked == Reporting::full) std::fprintf(stderr, "%s\n", to_line(report).c_str());
  }
  if (status().report_file.empty()) return;
  const auto name = expand_file_name(status().report_file, status().rank);
  std::ofstream file(name);
  if (!(file << text))
    std::fprintf(stderr, "progress engine: the report file %s cannot be written: %s.\n", name.c_str(),
                 std::strerror(errno));
}

// A program that progress-run has started and that ends without having begun MPI: nothing was helped, and whoever asked
// for a report, or for no run without the engine, is told.

namespace {

long page_faults_at_first = 0;  // progress-run has had children in this very process

// As a shell, an interpreter or a debugger does: what they start is what was meant.
bool has_started_others() { return page_faults_of_children() != page_faults_at_first; }

// The MPI itself may be asked at any time (MPI 4.1, section 11.4).
const char* why_it_never_began() {
  if (!find_symbol("PMPI_Init")) return "the program has no MPI: there was nothing to help";
  const auto initialized = reinterpret_cast<int (*)(int*)>(find_symbol("PMPI_Initialized"));
  int began = 0;
  if (initialized) initialized(&began);
  return began ? "MPI began unseen by the engine, which saw no call: a library that calls MPI was loaded with "
                 "RTLD_DEEPBIND, or takes MPI's functions from the MPI's own file"
               : "the program never called MPI_Init: there was nothing to help";
}

// glibc calls it twice if what it calls registers a function for the end.
void at_end(int code, void* /*unused*/) {
  static bool done = false;
  if (std::exchange(done, true) || status().began || !is_target() || has_started_others()) return;
  const bool refused_settings = !read_policy() && status().wanted;
  if (!status().wanted && status().report == Reporting::none && status().report_file.empty()) return;
  if (status().wanted && !refused_settings) status().reason = why_it_never_began();
  write_report();
  if (!status().strict || !status().wanted) return;
  std::fprintf(stderr, "progress engine: %s (strict=1).\n", status().reason.c_str());
  std::fflush(nullptr);
  if (code == EXIT_SUCCESS) _exit(refused);
}

[[gnu::constructor]] void look_at_the_end() {
  page_faults_at_first = page_faults_of_children();
  if (is_target()) on_exit(at_end, nullptr);
}

}  // namespace

}  // namespace progress_engine
