// SPDX-License-Identifier: BSD-3-Clause
#include "offload/process.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/engine.hpp"
#include "mpi/mpi_header.hpp"
#include "mpi/status.hpp"
#include "offload/calls.hpp"
#include "offload/starts.hpp"
#include "offload/ult.hpp"
#include "platform/placement.hpp"
#include "platform/scheduling.hpp"
#include "wait/event_source.hpp"

namespace progress_engine::offload {
namespace {

Process* the_process = nullptr;  // the last one, active or not; for the report
pthread_t main_thread{};
Nanoseconds began = 0;

CommunicationThreadPolicy thread_policy(const Policy& policy) {
  CommunicationThreadPolicy found;
  found.shares_cpu = number_of_cpus() == 1;
  found.sleeps = policy.wait != Wait::spin;
  found.burst = policy.burst;
  found.scheduling = {.slice_us = policy.slice_us};
  found.placement = ThreadPlacement(policy);
  return found;
}

// Where all threads share one CPU, who spins only keeps from running who would end the wait.
void prepare_waiting(const Policy& policy) {
  const int cpus = number_of_cpus();
  wait_policy().spin = cpus > 1 ? CommunicationThreadPolicy{}.spin : 0;
  wait_policy().spinners_at_most = cpus - 1;
  set_unknown_ult(policy.ult == "block" ? UnknownUlt::block : UnknownUlt::refuse);
  find_ult_adapter();
}

// Threads of a program at MPI_THREAD_MULTIPLE may need one another's calls to come through. User-level threads may,
// too, and who waits by itself keeps its kernel thread from the others.
CollectiveCalls collective_calls(const Policy& policy) {
  if (policy.collectives == Collectives::blocking) return CollectiveCalls::blocking;
  if (policy.collectives == Collectives::nonblocking) return CollectiveCalls::nonblocking;
  if (host().status.level_asked < MPI_THREAD_MULTIPLE) return CollectiveCalls::blocking;
  return ult_adapter() ? CollectiveCalls::nonblocking : CollectiveCalls::by_caller;
}

// At the level that the program has asked for where its threads call by themselves, if that can be had.
int begin_mpi(Process& here, const Begin& begin) {
  int& level = host().status.level_provided;
  int code = MPI_ERR_OTHER;
  if (here.collectives == CollectiveCalls::by_caller) {
    level = MPI_THREAD_MULTIPLE;
    code = begin(&level);
    if (code == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE) return code;
    here.collectives = CollectiveCalls::nonblocking;
  }
  if (code == MPI_SUCCESS) return code;
  level = MPI_THREAD_SERIALIZED;
  return begin(&level);
}

const char* name_of(CollectiveCalls calls) {
  if (calls == CollectiveCalls::by_caller) return "by caller";
  return calls == CollectiveCalls::blocking ? "blocking" : "nonblocking";
}

void abort_all_ranks() { PE_PMPI(MPI_Abort)(MpiHandles{}.comm_world, 1); }

// On the communication thread, which is the MPI's main thread from here on.
int initialise_here(const Policy& policy, const Begin& begin) {
  Process& here = *the_process;
  const int code = begin_mpi(here, begin);
  if (code != MPI_SUCCESS) return code;
  here.callers_take_turns = host().status.level_provided >= MPI_THREAD_SERIALIZED;
  if (here.callers_take_turns && number_of_cpus() == 1) wait_policy().stand_in_for = &here.communication_thread;
  here.table.learn_of_mpi();
  known_types().learn();
  here.table.use_progress_function(
      std::move(make_progress_functions(policy.driver, here.handles, Origin::world).front()));
  PE_PMPI(MPI_Comm_rank)(here.handles.comm_world, &host().status.rank);
  PE_PMPI(MPI_Comm_size)(here.handles.comm_world, &host().status.world_size);
  here.communication_thread.advances(&here.table);
  return code;
}

int drain_here() {
  Table& table = the_process->table;
  if (const auto waiting = table.awaited(); waiting > 0)
    give_up("MPI_Finalize was called while " + std::to_string(waiting) +
            " of this process' threads still wait in MPI calls");
  // What the program leaves unstarted, as a partitioned receive, keeps nobody from being polled any more.
  for (; table.detached() > 0; table.advance()) tested_in_vain();
  table.release_progress_function();
  the_process->communication_thread.advances(nullptr);
  return MPI_SUCCESS;
}

// Where nobody may take the communication thread's place it goes on: among user-level threads all might sleep.
bool can_stand_down() { return the_process->callers_take_turns && !ult_adapter(); }

LookForGpu gpu_in_use = nullptr;

// Whether it has been decided, for good. Where the GPU's memory is the MPI's to read, small sends are not copied any
// more: the CPU may be unable to.
bool look_for_gpus() {
  const bool may = can_stand_down();
  const GpuInUse found = gpu_in_use(may);
  if (found == GpuInUse::none) return false;
  if (found == GpuInUse::usable || may) the_process->inline_bytes = 0;
  if (found == GpuInUse::usable) return false;
  if (may) the_process->communication_thread.stand_down();
  return true;
}

void deactivate(Nanoseconds limit) {
  wait_policy().stand_in_for = nullptr;
  host().in_use.store(nullptr);
  if (Process* process = active_process.exchange(nullptr)) process->communication_thread.stop(limit);
  wait_policy().stood_down = nullptr;
}

}  // namespace

int initialise(const Policy& policy, const Begin& begin, std::string& problem) {
  main_thread = pthread_self();
  began = now();
  try {
    auto events = host().make_events(policy);
    if (!events) throw std::runtime_error(std::string(host().status.reason));
    const auto thread = thread_policy(policy);
    refuse_beside_real_time(!thread.sleeps);
    the_process = new Process(thread, std::move(events));                       // kept for the report
    if (policy.beside_gpus == BesideGpus::poll) the_process->inline_bytes = 0;  // nobody looks what memory it is
    prepare_waiting(policy);
    the_process->collectives = collective_calls(policy);
    set_end_of_all_ranks(abort_all_ranks);
    the_process->communication_thread.start();
  } catch (const std::exception& error) {  // which must not leave this library: it has a C++ runtime of its own
    problem = error.what();
    delete std::exchange(the_process, nullptr);
    return MPI_ERR_OTHER;
  }
  active_process.store(the_process, std::memory_order_release);
  host().in_use.store(&library(), std::memory_order_release);
  std::string failure;
  const int code = execute([&]() -> int {
    try {
      return initialise_here(policy, begin);
    } catch (const std::exception& error) {
      failure = error.what();
      return MPI_SUCCESS;
    }
  });
  if (!failure.empty()) give_up(failure);
  if (code != MPI_SUCCESS) deactivate(join_timeout);
  return code;
}

int finalise(const End& end) {
  execute(drain_here);
  host().write_report();
  // Callbacks that MPI_Finalize itself calls (of MPI_COMM_SELF's attributes) may make any call, and wait for it: nobody
  // else calls now, and their calls are the MPI's own.
  const int code = execute([&] {
    host().in_use.store(nullptr);
    return end();
  });
  deactivate(join_timeout);
  return code;
}

void watch_gpus(LookForGpu look) {
  gpu_in_use = look;
  execute([]() -> int {
    if (!look_for_gpus()) the_process->communication_thread.watch(look_for_gpus);
    return MPI_SUCCESS;
  });
}

void pause(Nanoseconds limit) {
  if (Process* process = active_process.load()) process->communication_thread.pause(limit);
}

void after_fork_in_child() {
  host().in_use.store(nullptr);
  active_process.store(nullptr);
  wait_policy().stood_down = nullptr;
}

bool is_main_thread() { return pthread_equal(main_thread, pthread_self()) != 0; }

std::optional<OffloadReport> describe() {
  if (!the_process) return std::nullopt;
  const auto& counters = the_process->communication_thread.counters();
  const pe_ult_adapter* adapter = ult_adapter();
  const Nanoseconds slice = the_process->communication_thread.slice();
  return OffloadReport{.commands = counters.commands,
                       .passes = counters.passes,
                       .naps = counters.naps,
                       .rings = counters.rings,
                       .queue_full = counters.full,
                       .stand_ins = counters.stand_ins,
                       .turns = counters.turns,
                       .collectives = name_of(the_process->collectives),
                       .traffic = counters.traffic,
                       .pending_while_computing_s = 1e-9 * static_cast<double>(counters.beside.load()),
                       .lifetime_s = 1e-9 * static_cast<double>(now() - began),
                       .windows = the_process->table.had_windows(),
                       .requests_at_once = the_process->proxies.made(),
                       .suspensions = suspensions(),
                       .ult_adapter = adapter ? std::make_optional<std::string>(adapter->name) : std::nullopt,
                       .thread = the_process->communication_thread.usage(),
                       .slice_ns = slice > 0 ? std::make_optional(slice) : std::nullopt};
}

}  // namespace progress_engine::offload
