// SPDX-License-Identifier: BSD-3-Clause
// The engine inside an MPI process: from MPI_Init to MPI_Finalize, exit or fork.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/engine.hpp"
#include "mpi/driver.hpp"
#include "mpi/mpi_handles.hpp"
#include "mpi/persistent.hpp"

namespace progress_engine {

// What exists while the engine is active, and stays for the report afterwards.
struct Runtime {
  MpiHandles handles;
  PersistentRequests persistent;
  MpiDriver* driver = nullptr;  // the engine's
  std::unique_ptr<Engine> engine;
};

// Null while the engine is inactive: before MPI_Init and after MPI_Finalize, in a forked child, with the preset `off`,
// without MPI_THREAD_MULTIPLE.
extern std::atomic<Runtime*> active_runtime;

// The calling thread's slot in the active engine; given back when the thread ends.
ThreadSlot& this_thread_slot(Runtime& runtime);

// MPI_THREAD_SINGLE -> "single" and so on; "unknown" before MPI_Init.
const char* level_name(int level);

// What the report tells; none of it is destroyed before the process is.
struct Status {
  std::string preset;
  std::string reason = "MPI is not initialised";  // why inactive, "" while active
  Values settings;
  std::string driver;
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
