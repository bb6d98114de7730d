// SPDX-License-Identifier: BSD-3-Clause
// The MG kernel of the NAS Parallel Benchmarks (Bailey et al., RNR-94-007, section 2.4) without its messages: the
// operators of its V-cycle on a block of a periodic grid. Grids of 2^k points an axis; point J of one is point 2 J of
// the next finer one. A Layout's last axis is the specification's first.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/grid.h"

namespace workloads::npb {

/// A class: 2^levels points an axis.
struct MgClass {
  std::string_view name;
  int levels;
  int iterations;
  bool small;  ///< S, W and A smooth with coefficients of their own
  double norm;

  [[nodiscard]] int edge() const noexcept { return 1 << levels; }
};

/// S to D with the verification values of NPB 3.4.
const std::array<MgClass, 6>& mg_classes() noexcept;

/// The residual's norm within 1e-8 of the class's, relatively.
bool is_right(const MgClass& problem, double norm) noexcept;

/// A block's values at one level.
struct MgField {
  Layout layout;
  std::vector<double> values;

  explicit MgField(const Layout& shape) : layout(shape), values(shape.points()) {}
};

/// out = right - A u at the points of `box`. `out` may be `right`.
void residual(const MgField& u, const MgField& right, MgField& out, const Box& box);
/// u += S r at the points of `box`.
void smooth(const MgField& r, MgField& u, const Box& box, bool small);
/// coarse = the mean of the fine points around each point of `box`, which is of the coarse block.
void restrict_to(const MgField& fine, MgField& coarse, const Box& box);
/// fine += coarse, trilinearly, at the points of `box`, which is of the fine block and may have its ghosts.
void interpolate(const MgField& coarse, MgField& fine, const Box& box);
/// The sum of the squares of the block's points.
double sum_of_squares(const MgField& field);

/// Where a charge of the right-hand side is, by its random number: points are counted along the axes of the whole grid.
struct Charge {
  double value;
  std::int64_t point;  ///< ((i n) + j) n + k
};

constexpr std::size_t charges_of_a_sign = 10;

/// The block's largest (or smallest) random numbers, the first one leading.
std::vector<Charge> extreme_points(const MgClass& problem, const std::array<Span, 3>& block, bool largest);
/// Keeps the `charges_of_a_sign` that lead of all.
void keep_extreme(std::vector<Charge>& charges, bool largest);

}  // namespace workloads::npb
