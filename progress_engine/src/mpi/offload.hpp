// SPDX-License-Identifier: BSD-3-Clause
// The border to the preset offload. Its code is a library of its own (src/offload), loaded when it is asked for: what
// follows is all that the interposer knows of it, and all that it is told.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mpi/mpi_header.hpp"
#include "platform/placement.hpp"
#include "policy/settings.hpp"
#include "progress_engine/progress_engine.h"
#include "wait/event_source.hpp"

namespace progress_engine {

struct Status;
struct GpuKind;
struct OffloadReport;
// The way of each MPI function to the communication thread; generated, mpi/routes.hpp.
struct Routes;

// A GPU's library in the process whose memory the MPI takes: none; one, and the calling thread may call the MPI beside
// it; one, and it may not.
enum class GpuInUse { none, usable, unusable };

// Which. If it is unusable, says so, and what comes of it: whether the communication thread `stands_down`. Ends all
// ranks if they may not run without the engine.
using LookForGpu = GpuInUse (*)(bool stands_down);

// In place of who calls, of a call that goes to the library even from a thread that makes its calls itself.
inline const void* const from_any_thread = reinterpret_cast<const void*>(1);

// What the library does, in one table of functions.
struct OffloadLibrary {
  const Routes* routes;

  // ---- in every call, while it is in use
  // `caller`: who calls MPI_*; null for a call of PMPI_*. On the communication thread a call of MPI_* comes from a
  // callback of the program, or from within the MPI itself (input and output call other functions of MPI), which goes
  // straight on; one of PMPI_* can only come from below us, a tool or the MPI itself.
  bool (*takes)(const void* caller);
  bool (*on_communication_thread)();
  // Requests in Fortran, see mpi/fortran.cpp; `own`: the MPI's own conversion, or null.
  Word (*request_to_fortran)(Word (*own)(Word), Word request);
  Word (*request_to_c)(Word (*own)(Word), Word request);
  // The MPI's own behind one of the program's in C.
  Word (*real_request)(Word request);

  // ---- from MPI_Init to MPI_Finalize, exit or fork
  // Starts the communication thread, which begins the MPI, whatever the program asked for: it may then call from all
  // its threads. Returns the MPI's code; if there is no thread to be had, `problem` says so, and nothing has begun.
  // `begin(&level)` is the MPI's own beginning: the level that is asked for, and then the one that was had;
  // MPI_THREAD_FUNNELED is enough.
  int (*initialise)(const Policy& policy, const std::function<int(int* level)>& begin, std::string& problem);
  // The program's MPI_Finalize. Ends the program with a sentence if other threads still wait in MPI calls. `end` is the
  // MPI's own.
  int (*finalise)(const std::function<int()>& end);
  // A call that the interposer makes for the program, on the communication thread; the caller waits. The call's code.
  int (*execute)(const std::function<int()>& call);
  // From here on the communication thread asks that every 10 ms, and at once. Libraries are loaded at any time.
  void (*watch_gpus)(LookForGpu look);
  // Calls nothing of the MPI from here on, unless the program does: see CommunicationThread::pause().
  void (*pause)(Nanoseconds limit);
  void (*after_fork_in_child)();
  // Whether the caller is the thread that called MPI_Init.
  bool (*is_main_thread)();

  // For the report; none if there never was a communication thread.
  std::optional<OffloadReport> (*describe)();

  // ---- the C API, see progress_engine.h
  bool (*register_ult_adapter)(const pe_ult_adapter& adapter);
  const pe_ult_adapter* (*ult_adapter)();
  bool (*set_ult_waiting)(std::string_view method);
};

// What the library is told of the interposer that has loaded it.
struct OffloadHost {
  Status& status;
  void (*write_report)();
  // Looking symbols up goes by who asks (RTLD_NEXT): the library that was preloaded does it for both.
  void* (*find_symbol)(const char* name);
  void* (*find_object)(const char* name);
  void* (*stand_in_for_absent)(const char* name);  // mpi/absent.hpp
  const Cpus& (*cpus_of_process)();                // seen when the process began
  // What announces traffic, before the MPI begins; null with the reason in the status. (What the MPI calls of a
  // fabric's library goes to the interposer.)
  std::unique_ptr<EventSource> (*make_events)(const Policy& policy);
  // The library, while calls go to the communication thread; else null.
  std::atomic<const OffloadLibrary*>& in_use;
};

// What the library exports, under the name pe_offload_library.
using GetOffloadLibrary = const OffloadLibrary* (*)(const OffloadHost& host);

extern std::atomic<const OffloadLibrary*> offload_in_use __attribute__((visibility("hidden")));

// Loads the library that stands beside the engine, once. Null with the reason in `problem` if that fails.
const OffloadLibrary* load_offload(std::string& problem);
// Null if it was never loaded.
const OffloadLibrary* loaded_offload();

// After MPI_Init under `offload`: that thread makes every call, without the program's contexts, until a GPU's library
// is there. Before MPI_Init no MPI can be asked whether it takes a GPU's memory (MPICH aborts).
void watch_gpus(const Policy& policy);
// For whose sake the communication thread has stood down; null if it has not.
const GpuKind* gpu_under_offload();

inline bool on_communication_thread() {
  const OffloadLibrary* library = loaded_offload();
  return library && library->on_communication_thread();
}

}  // namespace progress_engine
