// SPDX-License-Identifier: BSD-3-Clause
// --strict: whether the engine was there when MPI began is known afterwards alone. What drops LD_PRELOAD on the way (a
// sandbox, a wrapper, a security module) says nothing. So progress-run stays as the program's parent, and the engine
// leaves a mark (mpi/launcher.hpp).
#pragma once

#include <string>

namespace progress_engine {

// Returns in the program's process to be. In its parent waits for the program's end, passes signals on, and ends as it
// did; with status 2 and a sentence where the program did well and no process of it has left the mark. `program`: what
// the sentence calls it.
void supervise(const std::string& program);

}  // namespace progress_engine
