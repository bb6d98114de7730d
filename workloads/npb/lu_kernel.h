// SPDX-License-Identifier: BSD-3-Clause
// The LU kernel of the NAS Parallel Benchmarks (Bailey et al., RNR-94-007, section 3) without its messages: on a block
// of the grid, the discretised Navier-Stokes operator and the two sweeps of a step of symmetric successive
// over-relaxation (SSOR).
//
// The sweeps apply the 5 x 5 Jacobian matrices of the specification to a vector without storing them. A block's first
// axis is the specification's third (zeta), which is not cut; its last is the first (xi).
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "common/grid.h"

namespace workloads::npb {

constexpr std::size_t lu_unknowns = 5;  ///< density, momentum along xi, eta and zeta, energy
using Five = std::array<double, lu_unknowns>;

/// What verifies a class.
struct LuResult {
  Five residuals{};  ///< root mean squares of the right-hand side
  Five errors{};     ///< of the difference from the exact solution
  double surface = 0;
};

struct LuClass {
  std::string_view name;
  int edge;  ///< points an axis, the boundary's too
  int steps;
  double dt;
  LuResult right;
};

/// S to D with the verification values of NPB 3.4.
const std::array<LuClass, 6>& lu_classes() noexcept;

/// All values within 1e-8 of the class's, relatively.
bool is_right(const LuClass& problem, const LuResult& result) noexcept;

/// A rank's part of the grid.
struct LuShare {
  /// Axis 0 must not be cut.
  LuShare(const LuClass& problem, const Decomposition& ranks);

  int edge;
  double dt;
  Layout layout;
  Triple first;  ///< place in the grid, from 0, of the block's first point
  Box inner;     ///< without the grid's boundary
};

struct LuField {
  explicit LuField(const Layout& layout);
  std::array<std::vector<double>, lu_unknowns> values;
};

/// The exact solution, ghosts too: beyond the grid they are not used, but must be numbers.
void lu_exact(const LuShare& share, LuField& u);
/// The exact solution on the grid's boundary, interpolated between its faces within.
void lu_start(const LuShare& share, LuField& u);

/// 1 / density, the three velocities and energy / density of each point and of the innermost ghosts.
void lu_ratios(const LuShare& share, const LuField& u, LuField& ratios);
/// out += the operator's value of u, at the inner points.
void lu_add_operator(const LuShare& share, const LuField& u, const LuField& ratios, LuField& out);

/// Of plane `plane` (index along axis 0): v = (D + omega L)^-1 v, from the first point to the last. Points of v before
/// the block are ghosts.
void lu_lower_sweep(const LuShare& share, const LuField& ratios, LuField& v, int plane);
/// v = (1 + omega D^-1 U)^-1 v, from the last point to the first.
void lu_upper_sweep(const LuShare& share, const LuField& ratios, LuField& v, int plane);
/// v = dt v, at the inner points.
void lu_scale(const LuShare& share, LuField& v);
/// u += v / (omega (2 - omega)), at the inner points.
void lu_update(const LuShare& share, const LuField& v, LuField& u);

/// Sums of squares at the inner points.
Five lu_squares(const LuShare& share, const LuField& v);
Five lu_squares_of_error(const LuShare& share, const LuField& u);
/// This block's part of the pressure's integral over a surface within the grid.
double lu_surface(const LuShare& share, const LuField& u);

}  // namespace workloads::npb

namespace workloads::npb::lu {

// Constants of LU's equations, and what follows from them.

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
