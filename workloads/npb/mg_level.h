// SPDX-License-Identifier: BSD-3-Clause
// One grid of MG's V-cycle on a rank, and the exchange of its ghosts.
#pragma once

#include <vector>

#include "grid/halo.h"
#include "npb/mg_kernel.h"

namespace workloads::npb {

struct MgLevel {
  /// `edge` points an axis, cut for the ranks as `ranks` says. Ghosts come axis after axis as the benchmark is
  /// published, or from all 26 neighbours at once.
  MgLevel(int rank, const Decomposition& ranks, int edge, bool at_once);

  Triple margin;  ///< next to other ranks' points, see Decomposition::margin
  MgField u;
  MgField r;
  std::vector<HaloExchange<double>> halos;  ///< one after the other
};

}  // namespace workloads::npb
