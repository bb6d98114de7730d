// SPDX-License-Identifier: BSD-3-Clause
// The file that a profiled process leaves: analysis/where.py reads it.
#pragma once

#include <optional>
#include <string>

#include "platform/platform.hpp"

namespace progress_engine::profile {

// What the clocks of several machines show at the same time.

struct ClockReading {
  Nanoseconds at = 0;      // now() of this process
  Nanoseconds offset = 0;  // what rank 0's clock shows more than that
  Nanoseconds error = 0;   // at most: half a round trip
};

// Collective over MPI_COMM_WORLD, while MPI is there. One process of each node plays ping-pong with rank 0: of several
// round trips the shortest counts (Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989).
ClockReading compare_clocks();

struct Process {
  int rank = -1;
  int size = 0;  // of the world
  std::string folder;
  std::optional<ClockReading> clock_first;  // when it began and when it ended; none: nobody compared them
  std::optional<ClockReading> clock_last;
};

// FOLDER/profile.HOST.PROCESS.json, once; says on stderr why it cannot be written.
void write(const Process& process);

}  // namespace progress_engine::profile
