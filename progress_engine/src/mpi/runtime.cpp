// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "mpi/hooks.hpp"
#include "mpi/program_key.hpp"
#include "mpi/sockets.hpp"
#include "mpi/symbols.hpp"
#include "offload/process.hpp"
#include "policy/sources.hpp"

namespace progress_engine {

std::atomic<Runtime*> active_runtime{nullptr};
constinit thread_local ThreadBinding this_thread;

Status& status() {
  static auto* the_status = new Status;  // never destroyed: a report may be asked for at any time
  return *the_status;
}

namespace {

// ---- a thread's slot

// Threads may end at any time, also while a later activation frees the runtime that their slot belongs to.
std::mutex& slots_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

void give_slot_back(void* slot) {
  const std::scoped_lock lock(slots_mutex());
  const Runtime* runtime = status().runtime;
  if (runtime && runtime->generation == this_thread.generation) Activity::release(*static_cast<ThreadSlot*>(slot));
  this_thread = {};
}

pthread_key_t slot_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, give_slot_back);
    return made;
  }();
  return key;
}

// ---- the end of the process

// The program called exit without MPI_Finalize, or an MPI's error handler did: our threads must not poll while
// libraries are torn down. MPI_Finalize may still come, by what the program registered before MPI_Init: so what the
// MPI holds of ours stays until then, and so does the communication thread.
void at_exit() {
  if (broken("exit")) return;
  offload::pause(hasty);
  deactivate(hasty);
}

// Threads do not survive in the child, locks may be held for ever: it becomes a pass-through.
void after_fork_in_child() {
  if (broken("fork")) return;
  active_runtime = nullptr;
  status().runtime = nullptr;  // its threads are not here
  offload::after_fork_in_child();
  status().reason = "this process was forked";
}

// ---- settings

void configure() {
  const char* variant = std::getenv("PROGRESS_ENGINE");
  status().preset = variant ? variant : "";  // for the report, should something be refused
  const auto resolved = resolve(sources_of_process(environ));
  status().preset = resolved.variant;
  status().settings = resolved.values;
}

// When the settings as a whole are refused, whoever asked for a report still gets the reason.
void report_as_the_environment_says() {
  const char* strict = std::getenv("PROGRESS_ENGINE_STRICT");
  status().strict = strict && std::string_view(strict) == "1";
  const char* report = std::getenv("PROGRESS_ENGINE_REPORT");
  const char* file = std::getenv("PROGRESS_ENGINE_REPORT_FILE");
  status().report = report && std::string_view(report) == "1";
  status().report_file = file ? file : "";
}

// ---- activation

// What the MPI's progress calls itself (MPI-IO in MPICH, through its public functions) is no operation of the
// program's.
class ProgramDriver : public SwitchingDriver {
 public:
  using SwitchingDriver::SwitchingDriver;
  void poll() override {
    const Uncounted uncounted;
    SwitchingDriver::poll();
    if (waits) waits->look();
  }

  ManagedWaits* waits = nullptr;
};

// Where all threads share one CPU, who spins only keeps from running who would end the wait.
std::unique_ptr<ManagedWaits> make_waits(const Policy& policy) {
  if (!policy.managed_waiting) return nullptr;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  const bool several = sched_getaffinity(0, sizeof cpus, &cpus) != 0 || CPU_COUNT(&cpus) > 1;
  return std::make_unique<ManagedWaits>(several ? microseconds(policy.spin_us) : 0);
}

// Without a world there are no ranks to ring.
std::unique_ptr<Doorbell> make_doorbell(const Policy& policy, const MpiHandles& handles, Origin origin) {
  if (policy.doorbell == DoorbellKind::none || origin != Origin::world) return nullptr;
  int rank = 0;
  int size = 0;
  PE_PMPI(MPI_Comm_rank)(handles.comm_world, &rank);
  PE_PMPI(MPI_Comm_size)(handles.comm_world, &size);
  return std::make_unique<Doorbell>(program_key(), rank, size);
}

std::unique_ptr<RemoteBell> make_remote_bell(const Policy& policy, const MpiHandles& handles, Doorbell* doorbell) {
  if (policy.doorbell != DoorbellKind::rma || !doorbell) return nullptr;
  doorbell->strangers_ring();
  return std::make_unique<RemoteBell>(handles, doorbell->own(), doorbell->size(), policy.rma_bytes,
                                      microseconds(policy.min_distance_us));
}

// An engine whose threads did not end is left behind for ever.
void forget(Runtime* runtime) {
  const std::scoped_lock lock(slots_mutex());
  status().runtime = nullptr;
  if (runtime && runtime->ended) delete runtime;
}

void start(const Policy& policy, std::unique_ptr<EventSource> events, Origin origin) {
  static unsigned generations = 0;
  auto runtime = std::make_unique<Runtime>();
  runtime->generation = ++generations;
  auto driver = std::make_unique<ProgramDriver>(make_drivers(policy.driver, runtime->handles, origin));
  runtime->driver = driver.get();
  runtime->origin = origin;
  runtime->waits = make_waits(policy);
  driver->waits = runtime->waits.get();
  auto doorbell = make_doorbell(policy, runtime->handles, origin);
  runtime->doorbell = doorbell.get();
  runtime->remote = make_remote_bell(policy, runtime->handles, runtime->doorbell);
  runtime->engine = std::make_unique<Engine>(policy, std::move(driver), std::move(events), std::move(doorbell));
  runtime->engine->start();
  status().runtime = runtime.release();
}

}  // namespace

std::optional<Policy> read_policy() {
  try {
    configure();
    auto policy = make_policy(status().settings);
    status().report = policy.report;
    status().report_file = policy.report_file;
    status().strict = policy.strict;
    status().wanted = policy.points.any() || policy.offload;
    if (status().wanted) return policy;
    status().reason = "the preset or the settings switch it off";
  } catch (const std::exception& error) {
    status().reason = error.what();
    status().wanted = true;
    report_as_the_environment_says();
  }
  return {};
}

std::unique_ptr<EventSource> watch_sockets(const Policy& policy) {
  if (!policy.points.events || policy.wait != Wait::epoll) return nullptr;
  return std::make_unique<SocketEvents>();
}

void activate(const Policy& policy, std::unique_ptr<EventSource> events, Origin origin) {
  try {
    forget(status().runtime);
    start(policy, std::move(events), origin);
    status().was_active = true;
    status().reason.clear();
    register_ends();
    active_runtime.store(status().runtime, std::memory_order_release);
  } catch (const std::exception& error) {
    status().reason = error.what();
  }
}

void deactivate(Nanoseconds limit) {
  active_runtime = nullptr;
  Runtime* runtime = status().runtime;
  if (!runtime || runtime->ended || runtime->left_behind) return;
  status().driver = runtime->driver->name();
  status().driver_switches = runtime->driver->switches();
  runtime->stopped = runtime->stopped || runtime->engine->stop(limit);
  if (limit != patient) return;
  runtime->left_behind = !runtime->stopped;
  if (runtime->left_behind) return;
  if (runtime->remote) runtime->remote_rings = runtime->remote->rings();
  runtime->remote.reset();
  runtime->engine->release_driver();
  runtime->ended = true;
}

void register_ends() {
  static const bool once = [] {
    std::atexit(at_exit);
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
    return true;
  }();
  (void)once;
}

const char* level_name(int level) {
  if (level == MPI_THREAD_SINGLE) return "single";
  if (level == MPI_THREAD_FUNNELED) return "funneled";
  if (level == MPI_THREAD_SERIALIZED) return "serialized";
  return level == MPI_THREAD_MULTIPLE ? "multiple" : "unknown";
}

ThreadSlot& bind_this_thread(Runtime& runtime, Owner owner) {
  this_thread = {runtime.generation, &runtime.engine->activity().acquire(owner)};
  pthread_setspecific(slot_key(), this_thread.slot);
  return *this_thread.slot;
}

}  // namespace progress_engine
