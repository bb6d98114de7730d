// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

namespace workloads::minife {

inline constexpr int corners = 8;  // of an element; corner c is at (c / 4, c / 2 % 2, c % 2) of z, y, x

using ElementMatrix = std::array<std::array<double, corners>, corners>;

/// What a hexahedron with trilinear shape functions adds to the matrix of Laplace's operator: the integrals of the
/// products of their gradients, by two Gauss points an axis. `edges`: its lengths along z, y, x.
ElementMatrix diffusion_matrix(const std::array<double, 3>& edges);

}  // namespace workloads::minife
