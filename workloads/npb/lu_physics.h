// SPDX-License-Identifier: BSD-3-Clause
// Constants of LU's equations, and what follows from them.
#pragma once

namespace workloads::npb::lu {

inline constexpr double c1 = 1.4;
inline constexpr double c2 = 0.4;
inline constexpr double c3 = 0.1;
inline constexpr double c4 = 1;
inline constexpr double c5 = 1.4;
inline constexpr double c34 = c3 * c4;
inline constexpr double c1345 = c1 * c3 * c4 * c5;
inline constexpr double four_thirds = 4.0 / 3;
inline constexpr double omega = 1.2;

/// Diffusion along axes 0 (zeta), 1 and 2, and what damps the fourth differences.
inline constexpr double diffusion(int axis) noexcept { return axis == 0 ? 1.0 : 0.75; }
inline constexpr double damping = 0.25;

/// Factors of first and second central differences.
struct Steps {
  explicit constexpr Steps(int edge) noexcept : first((edge - 1) / 2.0), second(1.0 * (edge - 1) * (edge - 1)) {}
  double first;
  double second;
};

}  // namespace workloads::npb::lu
