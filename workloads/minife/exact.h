// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "common/grid.h"

namespace workloads::minife {

/// Sums over nodes; those of all ranks can be added.
struct ErrorSum {
  double squares = 0;
  double nodes = 0;
};

/// The solution of Laplace's equation in the unit cube that is 1 where x = 1 and 0 on its other faces, as a series of
/// sines and hyperbolic sines, at the nodes of one rank with x <= 3/4: on the edges of the face x = 1 it is not
/// continuous, and near them no grid resolves it.
class Exact {
 public:
  /// `nodes` of the whole grid and the rank's box of them, axes z, y, x.
  Exact(const Triple& nodes, const Box& mine);

  /// How far `values`, in a Layout of the rank's box, are from it.
  [[nodiscard]] ErrorSum compare(const std::vector<double>& values) const;

  /// The largest root-mean-square error of a grid's right solution: trilinear elements are of second order, and their
  /// error is about half of this on cubes, less on most other grids.
  static double tolerance(const Triple& nodes);

 private:
  Layout layout_;
  Box compared_;
  std::vector<double> values_;  ///< x after x, in each z after z
};

}  // namespace workloads::minife
