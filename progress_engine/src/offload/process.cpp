// SPDX-License-Identifier: BSD-3-Clause
#include "offload/process.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "mpi/runtime.hpp"
#include "mpi/sockets.hpp"
#include "mpi/symbols.hpp"
#include "offload/calls.hpp"
#include "offload/known.hpp"
#include "offload/ult.hpp"
#include "telemetry/report.hpp"

namespace progress_engine::offload {
namespace {

Process* the_process = nullptr;  // the last one, active or not; for the report
pthread_t main_thread{};

int cpus_of_this_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

AgentPolicy agent_policy(const Policy& policy) {
  AgentPolicy agent;
  agent.ring = static_cast<std::size_t>(policy.ring);
  agent.spin = microseconds(policy.spin_us);
  agent.shares_cpu = cpus_of_this_process() == 1;
  agent.sleeps = policy.wait != Wait::spin;
  agent.awaited_spin = microseconds(policy.awaited_spin_us);
  agent.longest_nap = microseconds(policy.nap_us);
  agent.burst = policy.burst;
  agent.scheduling = {.slice_us = policy.slice_us, .nice = policy.nice};
  return agent;
}

// Where all threads share one CPU, who spins only keeps from running who would end the wait.
void prepare_waiting(const Policy& policy) {
  const int cpus = cpus_of_this_process();
  wait_policy().spin = cpus > 1 ? microseconds(policy.spin_us) : 0;
  wait_policy().spinners_at_most = cpus - 1;
  set_ult_waiting(ult_waiting_of(policy.ult_wait).value_or(UltWaiting::lead));
  set_unknown_ult(policy.ult == "block" ? UnknownUlt::block : UnknownUlt::refuse);
  find_ult_adapter();
}

void abort_all_ranks() { PE_PMPI(MPI_Abort)(MpiHandles{}.comm_world, 1); }

// On the communication thread, which is the MPI's main thread from here on.
int initialise_here(const Policy& policy, const Begin& begin) {
  Process& here = *the_process;
  const int code = begin(&status().level_provided);
  if (code != MPI_SUCCESS) return code;
  here.lends = status().level_provided >= MPI_THREAD_SERIALIZED;
  if (here.lends && cpus_of_this_process() == 1) wait_policy().stand_in_for = &here.agent;
  here.table.learn_empty_status();
  known_types().learn();
  here.table.use_driver(std::move(make_drivers(policy.driver, here.handles, Origin::world).front()));
  PE_PMPI(MPI_Comm_rank)(here.handles.comm_world, &status().rank);
  here.agent.advances(&here.table);
  return code;
}

int drain_here() {
  Table& table = the_process->table;
  if (const auto waiting = table.awaited(); waiting > 0)
    give_up(fmt::format("MPI_Finalize was called while {} of this process' threads still wait in MPI calls", waiting));
  while (table.detached() > 0) table.advance();
  table.release_driver();
  the_process->agent.advances(nullptr);
  return MPI_SUCCESS;
}

}  // namespace

int initialise(const Policy& policy, const Begin& begin) {
  the_process = new Process(agent_policy(policy), std::make_unique<SocketEvents>());  // kept for the report
  the_process->inline_bytes = static_cast<std::size_t>(policy.inline_bytes);
  main_thread = pthread_self();
  prepare_waiting(policy);
  set_end_of_all_ranks(abort_all_ranks);
  the_process->agent.start();
  active_process.store(the_process, std::memory_order_release);
  std::string failure;
  const int code = execute([&] {
    try {
      return initialise_here(policy, begin);
    } catch (const std::exception& error) {
      failure = error.what();
      return MPI_SUCCESS;
    }
  });
  if (!failure.empty()) give_up(failure);
  if (code != MPI_SUCCESS) deactivate(patient);
  return code;
}

int finalise(const End& end) {
  execute(drain_here);
  write_report();
  const int code = execute([&] { return end(); });
  deactivate(patient);
  return code;
}

void deactivate(Nanoseconds limit) {
  wait_policy().stand_in_for = nullptr;
  if (Process* process = active_process.exchange(nullptr)) process->agent.stop(limit);
}

void pause(Nanoseconds limit) {
  if (Process* process = active_process.load()) process->agent.pause(limit);
}

void after_fork_in_child() { active_process.store(nullptr); }

bool is_main_thread() { return pthread_equal(main_thread, pthread_self()) != 0; }

nlohmann::ordered_json describe() {
  if (!the_process) return nullptr;
  const auto& counters = the_process->agent.counters();
  const pe_ult_adapter* adapter = ult_adapter();
  return {{"commands", counters.commands.load()},
          {"passes", counters.passes.load()},
          {"naps", counters.naps.load()},
          {"rings", counters.rings.load()},
          {"ring_full", counters.full.load()},
          {"stand_ins", counters.stand_ins.load()},
          {"turns", counters.turns.load()},
          {"requests_at_once", the_process->proxies.made()},
          {"suspensions", suspensions()},
          {"ult_adapter", adapter ? nlohmann::ordered_json(adapter->name) : nlohmann::ordered_json(nullptr)}};
}

nlohmann::ordered_json describe_slice() {
  const Nanoseconds slice = the_process->agent.slice();
  return slice > 0 ? nlohmann::ordered_json(slice) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json describe_thread() {
  const ThreadUsage usage = the_process->agent.usage();
  return {{"role", "communication"},
          {"tid", usage.tid},
          {"cpus_allowed", usage.cpus_allowed},
          {"cpu_last", usage.cpu_last},
          {"cpu_s", usage.cpu_seconds},
          {"voluntary_switches", usage.voluntary_switches},
          {"involuntary_switches", usage.involuntary_switches}};
}

}  // namespace progress_engine::offload
