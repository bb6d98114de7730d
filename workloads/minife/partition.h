// SPDX-License-Identifier: BSD-3-Clause
// The nodes of the grid cut for the ranks as miniFE cuts them: ranks and nodes halved again and again, across z first,
// then y, then x. Other than a process grid it takes any number of ranks, and a block can have several neighbours on
// one side. No MPI here.
#pragma once

#include <vector>

#include "grid/halo_parts.h"

namespace workloads::minife {

/// A box of nodes for each rank, axes in the order z, y, x. UsageError if one would have none.
std::vector<Box> bisect(const Triple& nodes, int ranks);

/// Everybody whose nodes touch those of `rank`, with what goes there and comes from there, in the places of a Layout
/// of its box.
std::vector<HaloPart> neighbours_of(const std::vector<Box>& boxes, int rank);

/// The nodes of `rank`, in the places of its Layout, whose neighbours are all its own: what can be computed before the
/// halo has arrived. Empty if there are none.
Box without_neighbours(const Box& mine, const Triple& nodes);

}  // namespace workloads::minife
