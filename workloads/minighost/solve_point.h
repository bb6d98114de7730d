// SPDX-License-Identifier: BSD-3-Clause
// What a point of miniGhost's time steps says, and what it may not.
#pragma once

#include <string>
#include <vector>

#include "common/parameters.h"
#include "grid/halo_parts.h"
#include "minighost/stencil.h"

namespace workloads::minighost {

const Parameters& solve_parameters();

struct SolvePoint {
  /// `point` has been checked against solve_parameters().
  explicit SolvePoint(const Json& point);

  Triple grid;
  int variables;
  Stencil stencil;
  bool corners;  ///< blocks get the points across edges and corners, too: 26 neighbours, and not 6
  int steps;
  std::string mode;
  std::string reduction;
  std::string placement;
};

/// What a block of `interior` points exchanges, one after the other: all of it at once or, in phases, axis after axis.
std::vector<std::vector<HaloPart>> exchanges_of(const SolvePoint& point, const Decomposition& ranks,
                                                const Triple& interior);

/// UsageError where so many ranks cannot run it. Collective.
void check_solve(const Json& point, int ranks);

}  // namespace workloads::minighost
