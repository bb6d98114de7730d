// SPDX-License-Identifier: BSD-3-Clause
// What mpi/lifecycle.hpp says of activation, threads' slots and the end of the process.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <system_error>

#include "fabrics/fabrics.hpp"
#include "mpi/launcher.hpp"
#include "mpi/lifecycle.hpp"
#include "platform/fork_mutex.hpp"
#include "platform/placement.hpp"
#include "policy/sources.hpp"
#include "wait/event_source.hpp"

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
ForkMutex& slots_mutex() {
  static auto* mutex = new ForkMutex;
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
    if (const int error = pthread_key_create(&made, give_slot_back); error != 0)
      throw std::system_error(error, std::generic_category(), "the engine's key of thread-specific data");
    return made;
  }();
  return key;
}

// ---- the end of the process

pid_t registered_in = 0;  // not a child that was forked

// The program called exit without MPI_Finalize, or an MPI's error handler did: our threads must not poll while
// libraries are torn down. MPI_Finalize may still come, by what the program registered before MPI_Init: so what the
// MPI holds of ours stays until then, and so does the communication thread.
void at_exit() {
  if (broken("exit")) return;
  fall_silent();
  if (users() == 0 || getpid() != registered_in) return;
  write_report();
  status().report = Reporting::none;  // MPI_Finalize, if it comes, writes the file anew; one line is enough
}

// Threads do not survive in the child, and locks that are no ForkMutex may be held for ever: it becomes a pass-through.
void after_fork_in_child() {
  if (broken("fork")) return;
  active_runtime = nullptr;
  status().runtime = nullptr;  // its threads are not here
  if (const OffloadLibrary* offload = loaded_offload()) offload->after_fork_in_child();
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
  const auto value = [](std::string_view key) {
    const char* found = std::getenv(environment_name(key).c_str());
    return std::string(found ? found : "");
  };
  status().strict = value("strict") == "1";
  status().report = reporting_named(value("report"));
  status().report_file = value("report_file");
}

// ---- activation

// Null for who polls in the program's threads alone, which have the contexts that the MPI needs.
std::optional<GpuSupport> ask_for_gpus(const Policy& policy) {
  if (!policy.points.threads() || policy.beside_gpus == BesideGpus::poll) return {};
  GpuSupport gpus;
  if (!gpus.any()) return {};
  const GpuKind* kind = gpus.in_use();
  if (kind && policy.beside_gpus == BesideGpus::refuse) throw std::runtime_error(why_no_polling(*kind));
  return gpus;
}

// Where all threads share one CPU, who spins only keeps from running who would end the wait.
std::unique_ptr<ManagedWaits> make_waits(const Policy& policy) {
  if (!policy.managed_waiting) return nullptr;
  return std::make_unique<ManagedWaits>(number_of_cpus() > 1 ? spin_before_sleep : 0);
}

// Without a world there are no ranks to ring.
std::unique_ptr<Doorbell> make_doorbell(const Policy& policy, const MpiHandles& handles, Origin origin) {
  if (policy.doorbell == Ringing::none || origin != Origin::world) return nullptr;
  int rank = 0;
  int size = 0;
  PE_PMPI(MPI_Comm_rank)(handles.comm_world, &rank);
  PE_PMPI(MPI_Comm_size)(handles.comm_world, &size);
  try {
    return std::make_unique<Doorbell>(program_key(), rank, size, processes_here(size));
  } catch (const std::exception& error) {
    if (policy.doorbell != Ringing::automatic) throw;
    status().doorbell_lack = error.what();  // sockets and the timer do without
    return nullptr;
  }
}

// An engine whose threads did not end is left behind for ever.
void forget(Runtime* runtime) {
  {
    const std::scoped_lock lock(slots_mutex());
    status().runtime = nullptr;
  }
  if (runtime && runtime->ended) delete runtime;
}

void start(const Policy& policy, std::unique_ptr<EventSource> events, Origin origin) {
  const bool named = policy.events != Announcements::automatic;
  if (const auto lack = what_lacks(policy.events, fabrics_of_process()); policy.strict && named && !lack.empty())
    throw std::runtime_error(lack);
  slot_key();  // while what it throws is caught
  static unsigned generations = 0;
  auto runtime = std::make_unique<Runtime>();
  runtime->generation = ++generations;
  auto progress = std::make_unique<ProgramProgressFunction>(
      make_progress_functions(policy.driver, runtime->handles, origin), *runtime);
  progress->gpus = ask_for_gpus(policy);
  progress->beside_gpus = policy.beside_gpus;
  runtime->progress = progress.get();
  runtime->origin = origin;
  runtime->waits = make_waits(policy);
  progress->waits = runtime->waits.get();
  status().doorbell_lack.clear();
  auto doorbell = make_doorbell(policy, runtime->handles, origin);
  runtime->doorbell = doorbell.get();
  runtime->eager_bytes = policy.eager_bytes;
  runtime->engine = std::make_unique<Engine>(policy, std::move(progress), std::move(events), std::move(doorbell));
  runtime->engine->start();
  const std::scoped_lock lock(slots_mutex());  // threads of an earlier engine's program may end now
  status().runtime = runtime.release();
}

// What the system refuses it may refuse to this process alone.
void note_reason(const std::exception& error) {
  status().reason = error.what();
  status().only_here = dynamic_cast<const std::system_error*>(&error) != nullptr;
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

bool prepare_event_source(const Policy& policy, std::unique_ptr<EventSource>& events) {
  // The communication thread is interrupted by way of it, also where it spins.
  const bool waits = policy.offload || (policy.points.events && policy.wait == Wait::epoll);
  Watched watched = waits ? what_to_watch(policy.events, has_fabric_device()) : Watched{};
  Fabrics& fabrics = fabrics_of_process();
  try {
    if (waits) events = std::make_unique<EpollEvents>(watched.sockets ? Sockets::new_tcp : Sockets::none, &fabrics);
  } catch (const std::exception& error) {
    note_reason(error);
    watched = {};  // what would be announced nobody waits for
  }
  for (const Fabric fabric : all_fabrics) {
    const bool wanted = watched.fabrics[index(fabric)];
    fabrics.want(fabric, wanted);
    if (wanted) replace_calls(find_symbol("PMPI_Init"), calls_of(fabric));
  }
  return !waits || events;
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
    note_reason(error);
  }
}

void deactivate(Nanoseconds limit) {
  active_runtime = nullptr;
  Runtime* runtime = status().runtime;
  if (!runtime || runtime->ended || runtime->left_behind) return;
  status().driver = runtime->progress->name();
  status().driver_switches = runtime->progress->switches();
  runtime->stopped = runtime->stopped || runtime->engine->stop(limit);
  if (limit != join_timeout) return;
  runtime->left_behind = !runtime->stopped;
  if (runtime->left_behind) return;
  runtime->engine->release_progress_function();
  runtime->ended = true;
}

void fall_silent() {
  if (const OffloadLibrary* offload = loaded_offload()) offload->pause(exit_timeout);
  deactivate(exit_timeout);
}

void register_ends() {
  static const bool once = [] {
    registered_in = getpid();
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
