// SPDX-License-Identifier: BSD-3-Clause
// Which points of a block's surface go to which neighbour's ghosts. No MPI here.
#pragma once

#include <vector>

#include "grid/box.h"

namespace workloads {

/// From the neighbour's side.
Triple opposite_of(const Triple& direction) noexcept;

/// One neighbour: what it is sent (points of the interior's edge) and what it sends (points of the ghosts).
struct HaloPart {
  Triple direction{};
  int neighbour = -1;  ///< none beyond the domain
  Box send;
  Box receive;
};

/// Everything at once: the six faces, or with `corners` the 26 faces, edges and corners. Opposite directions are
/// neighbours in the list: 2m and 2m + 1.
std::vector<HaloPart> all_parts(const Decomposition& ranks, const Triple& interior, bool corners);

/// The two faces across one axis, with `corners` with the ghosts of the axes before it: one axis after another, three
/// exchanges of two messages then fill edges and corners too. `depth` layers of ghosts, each block having as many
/// points.
std::vector<HaloPart> axis_parts(const Decomposition& ranks, const Triple& interior, int axis, bool corners = true,
                                 int depth = 1);

}  // namespace workloads
