// SPDX-License-Identifier: BSD-3-Clause
// What the launcher, or progress-run in its place, says of this process and of those that were started with it, without
// a call of MPI.
#pragma once

#include <sys/types.h>

#include <string>

namespace progress_engine {

// Who has started this process, or progress-run in its place.
pid_t launcher_process();

// Whether progress-run became this process; not those that this one has started or forked.
bool is_target();

// What the children that have ended took: no two of these are the same if one has ended in between.
long page_faults_of_children();

// A text that is the same for all processes that one mpiexec started on this node, and for no others that run now: what
// the launcher says of the job or, where it says nothing, who the launcher is.
std::string program_key();

// Its rank among those that were started with it; -1 where no launcher says one.
int rank_by_launcher();

// Whether this process says what holds for all ranks, which is one line of a job and not 100,000. (Who ends the program
// says why, whichever rank it is: it may be the only one.)
inline bool speaks_for_all() { return rank_by_launcher() <= 0; }

// How many of the program's `size` processes are on this node, as Hydra or Open MPI says; 0 where nobody says. An
// answer counts with the right size beside it, and of several the largest.
int processes_here(int size);

// What gives the MPI a progress thread of its own, "NAME=VALUE"; "" if nothing does.
std::string other_poller();

// ---- the mark
// What progress-run reads when the program has ended, with --strict or --report: a file in which the engine leaves a
// line when MPI begins, and its report. It is inherited as an open descriptor, which goes into sandboxes that do not
// show progress-run's process, and named as that process's, since some programs close descriptors before they start
// others.

inline constexpr const char* mark_variable = "PROGRESS_ENGINE_MARK";
inline constexpr const char* mark_of_begin = "begun\n";

// The variable's value. The file is one to which all append.
std::string describe_mark(int descriptor, const std::string& path);
// Whole lines; without any, says whether some could be left. False where the environment names no mark, or one of
// another node's or container's.
bool leave_mark(const std::string& lines);

}  // namespace progress_engine
