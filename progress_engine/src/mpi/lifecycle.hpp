// SPDX-License-Identifier: BSD-3-Clause
// The engine inside an MPI process, from the first MPI_Init or MPI_Session_init to the last end, exit or fork. The
// world is one user of the engine, each session is one.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "fabrics/fabrics.hpp"
#include "mpi/call.hpp"
#include "mpi/offload.hpp"
#include "mpi/status.hpp"
#include "policy/settings.hpp"
#include "telemetry/report.hpp"

namespace progress_engine {

// ---- activation; the caller sees to it that no two threads do it at once

// The settings' policy, or none with the reason in status(): then nothing of MPI is to be changed.
std::optional<Policy> read_policy();
// What the policy watches beside time. Sockets that exist now are not the MPI's, and what UCX and libfabric are asked
// for they are asked when the MPI begins: call before it is initialised. Null in `events` if that is nothing. False if
// it cannot be had (no descriptor is left, say), with the reason in status().
bool prepare_event_source(const Policy& policy, std::unique_ptr<EventSource>& events);
// Starts the engine in an MPI at MPI_THREAD_MULTIPLE, or at any level if only the program's calls poll. Failures leave
// it inactive with the reason in status().
void activate(const Policy& policy, std::unique_ptr<EventSource> events, Origin origin);

// The exit status of a program that may not run without the engine.
constexpr int refused = 2;

// Stops the threads and, if `limit` is `join_timeout`, frees what the MPI holds of the engine's; may be called for the
// one limit and later for the other.
void deactivate(Nanoseconds limit);
// Before the process or the MPI is torn down: from then on no thread of the engine's calls the MPI. One that does is
// waited for, `exit_timeout` at most. What the MPI holds of the engine's stays, since MPI_Finalize may come.
void fall_silent();
// From now on, an exit without MPI_Finalize and a fork are seen. May be called again.
void register_ends();

// MPI_THREAD_SINGLE -> "single" and so on; "unknown" before MPI_Init.
const char* level_name(int level);

// ---- begins and ends

// A begin or end inside another one (PMPI_Init that MPI_Init calls, or a tool in between) is not the program's.
class Outermost {
 public:
  Outermost() = default;
  ~Outermost() { --depth; }
  Outermost(const Outermost&) = delete;
  Outermost& operator=(const Outermost&) = delete;
  explicit operator bool() const { return is_; }

 private:
  static inline thread_local int depth = 0;
  // The communication thread of `offload` begins and ends the MPI for a thread that waits, and holds the mutex.
  bool is_ = depth++ == 0 && !on_communication_thread();
};

// ---- all of these with lifecycle_mutex() held

// The program's callbacks, which the MPI calls meanwhile, may ask for a report.
std::recursive_mutex& lifecycle_mutex();

// The soname of this process's MPI if it is another than the engine was built for, else "". The handles of another ABI
// mean nothing here; the wrappers pass them on as they came.
std::string foreign_library();

enum class Begins { world, session };

// What is to be started, or none: the engine is switched off, or status().reason says why it cannot be. Ends the
// process if it may not run without.
std::optional<Policy> policy_for(const std::string& foreign, Begins begins);

// After the first begin: if there is an engine that is wanted and not there, says so in one line on stderr, or ends all
// ranks if they may not run without. `policy` as policy_for() gave it.
void account_for(const std::optional<Policy>& policy);

// Users of MPI that the program has opened and not closed.
int& users();

// Before an end. The engine goes with the last user, or with the world if it came with it: its communicator is freed.
void end_user(bool world);

// ---- ranks that end together
// MPICH before 4.2 over UCX hangs in MPI_Finalize when a rank makes progress after another has come there
// (pmodels/mpich#6596). Each rank closes its endpoints, for which its peer must answer, and then waits at a barrier of
// the launcher's, where it answers no more. Over TCP UCX 1.13 asks for that answer whenever something was sent. A rank
// whose question is answered before it asks itself leaves for that barrier: its peer then asks in vain. Bare programs
// hang so now and then, and the engine, which polls up to MPI_Finalize, makes it likely.
//
// So there the ranks first pass a barrier of their own, with progress. Behind it all messages have arrived, and no
// endpoint needs its peer: they are left open, and go with UCX's worker after the launcher's barrier.

// Returns when all ranks of MPI_COMM_WORLD are here, or after `limit`, since ranks without the engine do not come.
// Those that come to MPI_Finalize meanwhile get their answers.
void pass_finalize_barrier(Nanoseconds limit = seconds(10));

// The MPI's own end, `end`; `world`: of MPI_COMM_WORLD, to which all ranks come.
template <typename End>
int end_together(bool world, End end) {
  if (!quirks_of_this_mpi().ends_together) return end();
  if (world) pass_finalize_barrier();
  const EndpointsStayOpen open(find_symbol("PMPI_Init"));
  return end();
}

// What the engine did in this process.

// With lifecycle_mutex() held, or where no other thread begins or ends MPI.
Report make_report();

// Any thread, any time. While another thread begins or ends MPI the report says that alone: what it would tell changes,
// and to wait for MPI_Finalize might last for ever.
Report make_report_if_possible();

// At MPI_Finalize, or at the exit of a program that never calls it: what the settings `report` and `report_file` ask
// for; nothing by default.
void write_report();

}  // namespace progress_engine

// ---- the functions themselves
// Each has its PMPI_ twin: Fortran bindings and tools above the engine enter there. `call` gets the MPI's own function
// as `next`. Arguments are whole words where a handle may be among them.
#define PE_ENTRY(name, Type, parameters, call)                 \
  PE_INTERPOSED int entry_of_##name parameters __asm__(#name); \
  int entry_of_##name parameters {                             \
    static constinit Next<Type> next(#name);                   \
    return call;                                               \
  }
#define PE_ENTRIES(name, Type, parameters, call) \
  PE_ENTRY(name, Type, parameters, call)         \
  PE_ENTRY(P##name, Type, parameters, call)
