// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/grid.h"

namespace workloads::minife {

inline constexpr int corners = 8;  // of an element; corner c is at (c / 4, c / 2 % 2, c % 2) of z, y, x

using ElementMatrix = std::array<std::array<double, corners>, corners>;

/// What a hexahedron with trilinear shape functions adds to the matrix of Laplace's operator: the integrals of the
/// products of their gradients, by two Gauss points an axis. `edges`: its lengths along z, y, x.
ElementMatrix diffusion_matrix(const std::array<double, 3>& edges);

// The rows of one rank: 27 elements a row, as ELLPACK has them, with the places of their columns.

/// Laplace's equation in the unit cube: trilinear hexahedra, nothing but 0 on its surface except 1 where x = 1. Vectors
/// lie in a Layout of the rank's box, with its neighbours' nodes in the ghosts.
class Matrix {
 public:
  static constexpr std::size_t width = 27;
  /// What a row takes.
  static constexpr double bytes_of_a_row = width * (sizeof(double) + sizeof(std::int32_t));

  /// `mine`: this rank's box of the grid's `nodes` (at least 2 an axis), axes z, y, x. A row is assembled where it is,
  /// from all elements around its node: nobody sends any. Values on the surface are known, and stand on the right-hand
  /// side alone: the matrix stays symmetric, and their rows are the identity's.
  Matrix(const Triple& nodes, const Box& mine);

  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  /// The right-hand side: in the surface's rows the surface's values.
  [[nodiscard]] const std::vector<double>& right_hand_side() const noexcept { return right_; }
  /// The surface's values, and 0 inside.
  [[nodiscard]] const std::vector<double>& surface() const noexcept { return surface_; }

  /// out = A in, in the rows of `rows`.
  void multiply(const Box& rows, const double* in, double* out) const noexcept;

 private:
  using Row = std::array<double, width>;

  void add_row(const Triple& nodes, const Triple& node, std::size_t place, const Row& inside);
  [[nodiscard]] std::ptrdiff_t signed_stride(int axis) const noexcept {
    return static_cast<std::ptrdiff_t>(layout_.stride(axis));
  }

  Layout layout_;
  std::vector<double> values_;
  std::vector<std::int32_t> columns_;
  std::vector<double> right_;
  std::vector<double> surface_;
};

}  // namespace workloads::minife
