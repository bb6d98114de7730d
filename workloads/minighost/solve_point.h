// SPDX-License-Identifier: BSD-3-Clause
// What a point of miniGhost's time steps says, and what it may not.
#pragma once

#include <string>

#include "common/parameters.h"
#include "grid/decomposition.h"
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

/// UsageError where so many ranks cannot run it. Collective.
void check_solve(const Json& point, int ranks);

}  // namespace workloads::minighost
