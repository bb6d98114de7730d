// SPDX-License-Identifier: BSD-3-Clause
// The engine inside an MPI process: from the first MPI_Init or MPI_Session_init to the last end, exit or fork.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "core/engine.hpp"
#include "core/inlining.hpp"
#include "mpi/driver.hpp"
#include "mpi/held_requests.hpp"
#include "mpi/managed_wait.hpp"
#include "mpi/mpi_handles.hpp"
#include "mpi/partitioned.hpp"
#include "mpi/persistent.hpp"
#include "mpi/remote_bell.hpp"
#include "mpi/world_ranks.hpp"

namespace progress_engine {

// What exists while the engine is active, and stays for the report until it is activated again.
struct Runtime {
  unsigned generation = 0;  // tells it from earlier ones at the same address
  MpiHandles handles;
  PersistentRequests persistent;
  HeldRequests<MPI_Request> file_requests;
  PartitionedRequests<MPI_Request> partitioned;
  Origin origin = Origin::world;
  std::atomic<int> windows{0};          // made less freed, as far as seen
  std::unique_ptr<ManagedWaits> waits;  // null: the program waits as its MPI does
  SwitchingDriver* driver = nullptr;    // the engine's
  WorldRanks ranks{handles};
  Doorbell* doorbell = nullptr;  // the engine's; null: nobody is rung
  std::unique_ptr<Engine> engine;
  std::unique_ptr<RemoteBell> remote;  // uses the doorbell's line
  std::uint64_t remote_rings = 0;      // of `remote` when it is gone
  bool stopped = false;                // all threads ended
  bool ended = false;                  // they did, and the driver is gone
  bool left_behind = false;            // a thread did not end in time: nothing of this may be freed
};

// Null while the engine is inactive: before MPI_Init and after MPI_Finalize, in a forked child, with the preset `off`,
// without the thread level that its polling points need.
extern std::atomic<Runtime*> active_runtime __attribute__((visibility("hidden")));

// Read in every call: the initial-exec model makes that one instruction.
struct ThreadBinding {
  unsigned generation = 0;
  ThreadSlot* slot = nullptr;
};
extern constinit thread_local ThreadBinding this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
ThreadSlot& bind_this_thread(Runtime& runtime, Owner owner);

// The calling thread's slot in the active engine; given back when the thread ends.
PE_ALWAYS_INLINE ThreadSlot& this_thread_slot(Runtime& runtime, Owner owner = Owner::program) {
  if (this_thread.generation != runtime.generation) [[unlikely]]
    return bind_this_thread(runtime, owner);
  return *this_thread.slot;
}

// ---- activation; the caller (lifecycle.cpp) sees to it that no two threads do it at once

// The settings' policy, or none with the reason in status(): then nothing of MPI is to be changed.
std::optional<Policy> read_policy();
// What the policy watches beside time. Sockets that exist now are not the MPI's: call before it is initialised.
std::unique_ptr<EventSource> watch_sockets(const Policy& policy);
// Starts the engine in an MPI at MPI_THREAD_MULTIPLE, or at any level if only the program's calls poll. Failures leave
// it inactive with the reason in status().
void activate(const Policy& policy, std::unique_ptr<EventSource> events, Origin origin);

// How long an engine thread may take to end: MPI goes on after us, or the process ends anyhow.
constexpr Nanoseconds patient = seconds(10);
constexpr Nanoseconds hasty = seconds(1) / 5;
// Stops the threads and, if `limit` is `patient`, frees what the MPI holds of the engine's; may be called for the one
// and later for the other.
void deactivate(Nanoseconds limit);
// From now on, an exit without MPI_Finalize and a fork are seen. May be called again.
void register_ends();

// MPI_THREAD_SINGLE -> "single" and so on; "unknown" before MPI_Init.
const char* level_name(int level);

// What the report tells; none of it is destroyed before the process is.
struct Status {
  std::string preset;
  std::string reason = "MPI is not initialised";  // why inactive, "" while active
  bool wanted = false;                            // the settings ask for an engine, or are wrong
  bool strict = false;                            // nothing may run without the engine that was wanted
  Values settings;
  std::string driver;  // the last one's name
  std::size_t driver_switches = 0;
  int level_asked = -1;  // MPI_THREAD_*, -1 before MPI_Init
  int level_provided = -1;
  bool level_raised = false;
  int rank = -1;
  bool was_active = false;
  bool report = false;
  std::string report_file;
  Runtime* runtime = nullptr;  // the last one, active or not
};
Status& status();

}  // namespace progress_engine
