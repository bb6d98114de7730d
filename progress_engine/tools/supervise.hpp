// SPDX-License-Identifier: BSD-3-Clause
// With --strict or --report progress-run stays as the program's parent. Whether the engine was there when MPI began is
// known afterwards alone: what drops LD_PRELOAD on the way (a sandbox, a wrapper, a security module) says nothing. And
// one sentence of all ranks takes somebody who hears of all. So the engine leaves marks (mpi/launcher.hpp), and of the
// progress-runs that one launcher has started on a node the first hears the others' (gathering.hpp).
#pragma once

#include <string>

#include "policy/settings.hpp"

namespace progress_engine {

struct Watch {
  bool strict = false;
  Reporting report = Reporting::none;

  bool any() const { return strict || report != Reporting::none; }
};

// Returns in the program's process to be, or at once where a progress-run further out, in front of the launcher, reads
// the same marks. In its parent waits for the program's end, passes signals on, says what the engines have reported,
// and ends as the program did; strictly, with status 2 and a sentence where the program did well and no process of it
// has seen MPI begin. `program`: what the sentence calls it.
void supervise(const std::string& program, const Watch& watch);

}  // namespace progress_engine
