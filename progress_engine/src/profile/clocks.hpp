// SPDX-License-Identifier: BSD-3-Clause
// What the clocks of several machines show at the same time.
#pragma once

#include "platform/platform.hpp"

namespace progress_engine::profile {

struct ClockReading {
  Nanoseconds at = 0;      // now() of this process
  Nanoseconds offset = 0;  // what rank 0's clock shows more than that
  Nanoseconds error = 0;   // at most: half a round trip
};

// Collective over MPI_COMM_WORLD, while MPI is there. One process of each node plays ping-pong with rank 0: of several
// round trips the shortest counts (Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989).
ClockReading compare_clocks();

}  // namespace progress_engine::profile
