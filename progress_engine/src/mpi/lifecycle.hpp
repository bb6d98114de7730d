// SPDX-License-Identifier: BSD-3-Clause
// Begins and ends of MPI in this process: the world is one user of the engine, each session is one.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "mpi/offload.hpp"
#include "mpi/runtime.hpp"

namespace progress_engine {

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

}  // namespace progress_engine
