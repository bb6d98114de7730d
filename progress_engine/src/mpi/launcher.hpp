// SPDX-License-Identifier: BSD-3-Clause
// What the launcher says of this process, before MPI begins.
#pragma once

#include <sys/types.h>

namespace progress_engine {

// Who has started this process, or progress-run in its place.
pid_t launcher_process();

// Its rank among those that were started with it; -1 where no launcher says one.
int rank_by_launcher();

// Whether this process says what holds for all ranks, which is one line of a job and not 100,000. (Who ends the program
// says why, whichever rank it is: it may be the only one.)
inline bool speaks_for_all() { return rank_by_launcher() <= 0; }

}  // namespace progress_engine
