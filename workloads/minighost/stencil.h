// SPDX-License-Identifier: BSD-3-Clause
// The stencils of miniGhost in three dimensions: a point becomes the mean of itself and its neighbours.
#pragma once

#include <array>
#include <complex>
#include <string>
#include <vector>

#include "common/grid.h"

namespace workloads::minighost {

/// With the 6 neighbours across faces, or with all 26.
enum class Stencil : int { seven = 7, twenty_seven = 27 };

/// `out` at the points of `box` from `in` at those and around them. Blocks laid out as `layout`, not the same one.
void apply(Stencil stencil, const Layout& layout, const Box& box, const double* in, double* out);

// A field whose future is known: 1 + cos(phase + 2 pi (a i / I + b j / J + c k / K)) on a periodic grid. A stencil
// multiplies the wave by a number and leaves the 1 as it is, so that every point of every step can be checked, also
// that the sum over the grid is conserved.

class PlaneWave {
 public:
  /// Of variable `variable`: each has another direction and phase.
  PlaneWave(const Triple& grid, int variable);

  /// The part `place` of the grid at the start, into a block's interior.
  void fill(const Layout& layout, const std::array<Span, 3>& place, double* field) const;

  /// The first point that differs from what `steps` of the stencil give, in a sentence; empty if none does.
  [[nodiscard]] std::string check(const Layout& layout, const std::array<Span, 3>& place, const double* field,
                                  Stencil stencil, int steps) const;

  /// The sum over the whole grid, at any time.
  [[nodiscard]] double sum() const;

 private:
  using Phases = std::vector<std::complex<double>>;
  [[nodiscard]] double factor(Stencil stencil) const;
  [[nodiscard]] double value(double amplitude, int i, int j, int k) const;

  Triple grid_;
  Triple mode_;
  std::array<Phases, 3> phases_;  ///< exp(2 pi i mode n / points) an axis; the first one with the wave's own phase
};

}  // namespace workloads::minighost
