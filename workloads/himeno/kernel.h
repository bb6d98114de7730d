// SPDX-License-Identifier: BSD-3-Clause
// The Himeno benchmark's kernel (R. Himeno, RIKEN; himenoBMT): Jacobi's method on the pressure's Poisson equation in
// general coordinates, 19 points, single precision, 34 flops a point. One block of the grid; without MPI.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/grid.h"

namespace workloads::himeno {

/// The published sizes: XS 32x32x64, S 64x64x128, M 128x128x256, L 256x256x512, XL 512x512x1024, boundary included.
std::span<const std::string_view> size_names() noexcept;
/// Points of a published size; `name` is one of size_names().
Triple grid_of(std::string_view name);

inline constexpr double flops_a_point = 34;  ///< as the benchmark counts them
inline constexpr std::size_t bytes_of_a_point = 14 * sizeof(float);

/// A block of the grid with its arrays (p, bnd, wrk1, wrk2, a0-a3, b0-b2, c0-c2: bytes_of_a_point). Not for several
/// threads at once.
class Kernel {
 public:
  /// The whole grid.
  explicit Kernel(const Triple& grid);
  /// The part `interior` of the grid's interior, in points of the grid (its boundary is 0 and n - 1). std::bad_alloc.
  Kernel(const Triple& grid, const std::array<Span, 3>& interior);

  /// The published start: p = (i / (imax - 1))^2, coefficients of Poisson's equation.
  void initialise();

  /// One iteration on this block, whose ghosts hold the neighbours' p: computes, then takes over the new p. Returns
  /// this block's share of gosa, the sum of squared residuals.
  double iterate();

  /// p with its ghosts, laid out as layout().
  [[nodiscard]] float* pressure() noexcept { return array(0); }
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  /// Interior points of this block.
  [[nodiscard]] double points() const noexcept;

 private:
  [[nodiscard]] float* array(int index) noexcept {
    return arrays_.data() + (static_cast<std::size_t>(index) * distance_);
  }

  Triple grid_;
  std::array<Span, 3> place_;
  Layout layout_;
  std::size_t distance_;  ///< between arrays
  std::vector<float> arrays_;
};

/// gosa of iteration `iteration` (1, 2, ...) of the published problem on `grid`, in closed form. With the published
/// coefficients an iteration multiplies the residual by M = 1 - omega + omega A, A the mean of the six neighbours with
/// zero beyond the interior; the first residual is 1 / (3 (imax - 1)^2) everywhere, and M is diagonal in sines.
/// Costs an eighth of the interior's points.
double exact_gosa(const Triple& grid, int iteration);

}  // namespace workloads::himeno
