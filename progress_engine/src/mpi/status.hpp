// SPDX-License-Identifier: BSD-3-Clause
// What the report tells of the program and its MPI.
#pragma once

#include <string>

#include "policy/settings.hpp"

namespace progress_engine {

struct Runtime;

// None of it is destroyed before the process is.
struct Status {
  std::string preset;
  std::string reason = "MPI is not initialised";  // why inactive, "" while active
  bool wanted = false;                            // the settings ask for an engine, or are wrong
  bool began = false;                             // the program has called MPI_Init or opened a session
  bool strict = false;                            // nothing may run without the engine that was wanted
  bool quiet = false;                             // why inactive says the report alone
  bool only_here = false;                         // the reason is this process's own: others may be active
  Values settings;
  std::string driver;  // the last one's name
  std::size_t driver_switches = 0;
  std::string doorbell_lack;  // why there is none, or none of a kind, where the engine goes on without
  int level_asked = -1;       // MPI_THREAD_*, -1 before MPI_Init
  int level_provided = -1;
  bool level_raised = false;
  int rank = -1;        // in MPI_COMM_WORLD, or among the processes of "mpi://WORLD"
  int world_size = -1;  // how many those are; -1 where that is not known
  bool was_active = false;
  Reporting report = Reporting::none;
  std::string report_file;
  Runtime* runtime = nullptr;  // the last one, active or not
};
Status& status();

}  // namespace progress_engine
