// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "mpi/hooks.hpp"
#include "mpi/sockets.hpp"
#include "offload/active.hpp"
#include "offload/process.hpp"
#include "telemetry/report.hpp"

namespace progress_engine {

std::atomic<Runtime*> active_runtime{nullptr};

Status& status() {
  static auto* the_status = new Status;  // never destroyed: a report may be asked for at any time
  return *the_status;
}

namespace {

struct ThreadBinding {
  Runtime* runtime = nullptr;
  ThreadSlot* slot = nullptr;
};
// Read in every call: the initial-exec model makes that one instruction.
__attribute__((tls_model("initial-exec"))) thread_local ThreadBinding binding;

void give_slot_back(void* slot) {
  binding = {};
  Activity::release(*static_cast<ThreadSlot*>(slot));
}

pthread_key_t slot_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, give_slot_back);
    return made;
  }();
  return key;
}

void configure() {
  const char* variant = std::getenv("PROGRESS_ENGINE");
  status().preset = variant && *variant ? variant : "adaptive";
  status().settings = resolve_values(status().preset, overrides_from_environment(environ));
}

// ---- the end: by MPI_Finalize, exit, abort or fork

constexpr Nanoseconds patient = seconds(10);
constexpr Nanoseconds hasty = seconds(1) / 5;

void deactivate(Nanoseconds limit) {
  Runtime* runtime = active_runtime.exchange(nullptr);
  if (!runtime) return;
  status().driver = runtime->driver->name();
  if (runtime->engine->stop(limit) && limit == patient) runtime->engine->release_driver();
}

// The program called exit without MPI_Finalize, or an MPI's error handler did: nothing of MPI may be called any more,
// and our threads must not run while libraries are torn down.
void at_exit() {
  offload::deactivate(hasty);
  deactivate(hasty);
}

// Threads do not survive in the child, locks may be held for ever: it becomes a pass-through.
void after_fork_in_child() {
  active_runtime = nullptr;
  offload::after_fork_in_child();
  status().reason = "this process was forked";
}

void register_ends() {
  static const bool once = [] {
    std::atexit(at_exit);
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
    return true;
  }();
  (void)once;
}

// ---- the beginning

int init_as_asked(int* argc, char*** argv, int asked, int* provided, bool plain) {
  static constinit Next<decltype(&MPI_Init)> init("MPI_Init");
  static constinit Next<decltype(&MPI_Init_thread)> init_thread("MPI_Init_thread");
  if (!plain) return init_thread.get()(argc, argv, asked, provided);
  *provided = MPI_THREAD_SINGLE;
  return init.get()(argc, argv);
}

void activate(const Policy& policy, std::unique_ptr<EventSource> events) {
  auto* runtime = new Runtime;  // kept for the report
  auto driver = make_driver(policy.driver, runtime->handles);
  runtime->driver = driver.get();
  runtime->engine = std::make_unique<Engine>(policy, std::move(driver), std::move(events));
  runtime->engine->start();
  status().runtime = runtime;
  status().was_active = true;
  status().reason.clear();
  register_ends();
  active_runtime.store(runtime, std::memory_order_release);
}

// The sockets that exist now are not the MPI's.
std::unique_ptr<EventSource> watch_sockets(const Policy& policy) {
  if (!policy.points.events || policy.wait != Wait::epoll) return nullptr;
  return std::make_unique<SocketEvents>();
}

// When the settings as a whole are refused, whoever asked for a report still gets the reason.
void report_as_the_environment_says() {
  const char* report = std::getenv("PROGRESS_ENGINE_REPORT");
  const char* file = std::getenv("PROGRESS_ENGINE_REPORT_FILE");
  status().report = report && std::string_view(report) == "1";
  status().report_file = file ? file : "";
}

// The settings' policy, or none with the reason in status().
std::optional<Policy> read_policy() {
  try {
    configure();
    auto policy = make_policy(status().settings);
    status().report = policy.report;
    status().report_file = policy.report_file;
    if (policy.points.any() || policy.offload) return policy;
    status().reason = "the preset or the settings switch it off";
  } catch (const std::exception& error) {
    status().reason = error.what();
    report_as_the_environment_says();
  }
  return {};
}

// The program gets the level that it asks for, over an MPI at MPI_THREAD_FUNNELED.
int initialise_offload(const Policy& policy, int* argc, char*** argv, int asked, int* provided) {
  const int code = offload::initialise(policy, argc, argv);
  if (code != MPI_SUCCESS) return code;
  *provided = asked;
  status().level_raised = true;
  status().was_active = true;
  status().reason.clear();
  register_ends();
  return code;
}

int initialise(int* argc, char*** argv, int asked, int* provided, bool plain) {
  const auto policy = read_policy();
  status().level_asked = asked;
  if (!policy) {
    const int code = init_as_asked(argc, argv, asked, provided, plain);
    status().level_provided = *provided;
    return code;
  }
  if (policy->offload) return initialise_offload(*policy, argc, argv, asked, provided);
  std::string failure;
  try {
    auto events = watch_sockets(*policy);
    const int code = init_as_asked(argc, argv, MPI_THREAD_MULTIPLE, provided, false);
    if (code != MPI_SUCCESS) return code;
    status().level_provided = *provided;
    status().level_raised = true;
    if (*provided == MPI_THREAD_MULTIPLE)
      activate(*policy, std::move(events));
    else
      failure = fmt::format("the MPI provides thread level {} only, the engine needs multiple", level_name(*provided));
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!failure.empty()) status().reason = failure;
  *provided = std::min(*provided, asked);
  return MPI_SUCCESS;
}

}  // namespace

const char* level_name(int level) {
  if (level == MPI_THREAD_SINGLE) return "single";
  if (level == MPI_THREAD_FUNNELED) return "funneled";
  if (level == MPI_THREAD_SERIALIZED) return "serialized";
  return level == MPI_THREAD_MULTIPLE ? "multiple" : "unknown";
}

ThreadSlot& this_thread_slot(Runtime& runtime) {
  if (binding.runtime != &runtime) [[unlikely]] {
    binding = {&runtime, &runtime.engine->activity().acquire()};
    pthread_setspecific(slot_key(), binding.slot);
  }
  return *binding.slot;
}

}  // namespace progress_engine

using namespace progress_engine;

PE_INTERPOSED int MPI_Init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  const int code = initialise(argc, argv, MPI_THREAD_SINGLE, &provided, true);
  if (code == MPI_SUCCESS && !offload::active()) PE_PMPI(MPI_Comm_rank)(MpiHandles{}.comm_world, &status().rank);
  return code;
}

PE_INTERPOSED int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = initialise(argc, argv, required, provided, false);
  if (code == MPI_SUCCESS && !offload::active()) PE_PMPI(MPI_Comm_rank)(MpiHandles{}.comm_world, &status().rank);
  return code;
}

PE_INTERPOSED int MPI_Finalize() {
  static constinit Next<decltype(&MPI_Finalize)> next("MPI_Finalize");
  if (offload::active()) return offload::finalise();
  deactivate(patient);
  write_report();
  return next.get()();
}

PE_INTERPOSED int MPI_Query_thread(int* provided) {
  static constinit Next<decltype(&MPI_Query_thread)> next("MPI_Query_thread");
  if (offload::active()) {
    *provided = status().level_asked;
    return MPI_SUCCESS;
  }
  const int code = next.get()(provided);
  // The engine raised the level; the program sees what it asked for.
  if (code == MPI_SUCCESS && status().level_raised) *provided = std::min(*provided, status().level_asked);
  return code;
}

PE_INTERPOSED int MPI_Is_thread_main(int* flag) {
  static constinit Next<decltype(&MPI_Is_thread_main)> next("MPI_Is_thread_main");
  if (!offload::active()) return next.get()(flag);
  *flag = offload::is_main_thread();
  return MPI_SUCCESS;
}

PE_INTERPOSED int MPI_Pcontrol(const int level, ...) {
  static constinit Next<decltype(&MPI_Pcontrol)> next("MPI_Pcontrol");
  if (Runtime* runtime = active_runtime.load(std::memory_order_acquire)) {
    if (level == 0) runtime->engine->pause();
    if (level == 1) runtime->engine->resume();
  }
  return next.get()(level);
}

PE_INTERPOSED int MPI_Abort(MPI_Comm comm, int errorcode) {
  static constinit Next<decltype(&MPI_Abort)> next("MPI_Abort");
  deactivate(hasty);
  return next.get()(comm, errorcode);
}
