// SPDX-License-Identifier: BSD-3-Clause
// LU's sweeps. A row is done in two loops: what comes from the rows before it, many points at a time; then what each
// point takes from the one before it.
#include "common/vectorised.h"
#include "npb/lu_kernel.h"

// Within the loops that are vectorised, whatever the instruction set.
#if defined(__GNUC__)
#define LU_INLINE [[gnu::always_inline]] inline
#else
#define LU_INLINE inline
#endif

namespace workloads::npb {
namespace {

/// Of a point: a row of `ratios`.
struct Point {
  double inverse;
  double x;
  double y;
  double z;
  double specific;
};

struct Vector {
  double density;
  double x;
  double y;
  double z;
  double energy;
};

struct ConstRows {
  ConstRows(const LuField& field, std::size_t first)
      : density(field.values[0].data() + first),
        x(field.values[1].data() + first),
        y(field.values[2].data() + first),
        z(field.values[3].data() + first),
        energy(field.values[4].data() + first) {}

  LU_INLINE Vector vector(std::ptrdiff_t i) const { return {density[i], x[i], y[i], z[i], energy[i]}; }
  LU_INLINE Point point(std::ptrdiff_t i) const { return {density[i], x[i], y[i], z[i], energy[i]}; }

  const double* density;
  const double* x;
  const double* y;
  const double* z;
  const double* energy;
};

template <int axis>
LU_INLINE double along_axis(double x, double y, double z) {
  if constexpr (axis == 2) {
    return x;
  } else if constexpr (axis == 1) {
    return y;
  } else {
    return z;
  }
}

/// dt (sign A - N) v, of the neighbour along an axis with the Jacobian matrices A of its convective flux and N of its
/// viscous one, each with its step's factor. sign: -1 of the neighbour before, 1 of the one after.
template <int axis, int sign>
LU_INLINE Vector coupled(const Point& at, const Vector& v, double first, double second) {
  const double kinetic = 0.5 * ((at.x * at.x) + (at.y * at.y) + (at.z * at.z));
  // The change of the momenta less that of the density: of the velocities, times the density.
  const double dx = v.x - (at.x * v.density);
  const double dy = v.y - (at.y * v.density);
  const double dz = v.z - (at.z * v.density);
  const double momentum = along_axis<axis>(v.x, v.y, v.z);
  const double along = along_axis<axis>(at.x, at.y, at.z);
  const double d_along = along_axis<axis>(dx, dy, dz);
  const double pressure = lu::c2 * (v.energy - ((at.x * v.x) + (at.y * v.y) + (at.z * v.z)) + (kinetic * v.density));
  const double enthalpy = (lu::c1 * at.specific) - (lu::c2 * kinetic);
  const double f = sign * first;
  const double s = second * at.inverse;
  const double diffused = second * lu::diffusion(axis);
  constexpr double on_x = lu::c34 * (axis == 2 ? lu::four_thirds : 1);
  constexpr double on_y = lu::c34 * (axis == 1 ? lu::four_thirds : 1);
  constexpr double on_z = lu::c34 * (axis == 0 ? lu::four_thirds : 1);
  const double heat = lu::c1345 * (v.energy - (at.specific * v.density));
  const double work =
      ((on_x - lu::c1345) * at.x * dx) + ((on_y - lu::c1345) * at.y * dy) + ((on_z - lu::c1345) * at.z * dz) + heat;
  return {
      (f * momentum) - (diffused * v.density),
      (f * ((along * v.x) + (at.x * d_along) + (axis == 2 ? pressure : 0))) - (s * on_x * dx) - (diffused * v.x),
      (f * ((along * v.y) + (at.y * d_along) + (axis == 1 ? pressure : 0))) - (s * on_y * dy) - (diffused * v.y),
      (f * ((along * v.z) + (at.z * d_along) + (axis == 0 ? pressure : 0))) - (s * on_z * dz) - (diffused * v.z),
      (f * ((along * (v.energy + pressure)) + (enthalpy * d_along))) - (s * work) - (diffused * v.energy),
  };
}

/// The diagonal blocks, which are triangular. The grid has as many points along each axis: the sums over the axes are
/// the same for each momentum.
struct Diagonal {
  explicit Diagonal(const LuShare& share)
      : factor(2 * share.dt * lu::Steps(share.edge).second),
        constant(1 + (factor * (lu::diffusion(0) + lu::diffusion(1) + lu::diffusion(2)))),
        momentum(factor * lu::c34 * (lu::four_thirds + 2)),
        energy(factor * lu::c1345 * 3) {}

  double factor;
  double constant;
  double momentum;  ///< times 1 / density
  double energy;    ///< times 1 / density
};

LU_INLINE Vector solve(const Diagonal& d, const Point& at, double momentum_inverse, double energy_inverse,
                       const Vector& right) {
  const double density = right.density / d.constant;
  const double m = d.momentum * at.inverse;
  const double e = d.energy * at.inverse;
  const double x = (right.x + (m * at.x * density)) * momentum_inverse;
  const double y = (right.y + (m * at.y * density)) * momentum_inverse;
  const double z = (right.z + (m * at.z * density)) * momentum_inverse;
  const double work =
      (at.x * (x - (at.x * density))) + (at.y * (y - (at.y * density))) + (at.z * (z - (at.z * density)));
  return {density, x, y, z, (right.energy - ((m - e) * work) + (e * at.specific * density)) * energy_inverse};
}

/// Rows that a row's points are taken from or left in.
struct Scratch {
  explicit Scratch(std::ptrdiff_t length) {
    for (auto& row : rows) {
      row.resize(static_cast<std::size_t>(length));
    }
  }
  std::array<std::vector<double>, lu_unknowns + 2> rows;  ///< right-hand sides, then the inverses of the diagonal
};

/// From the planes and rows before (sign -1) or after (1): omega times their coupling, and the diagonal's inverses.
template <int sign>
LU_INLINE void gather_row(const ConstRows& ratios, const ConstRows& v, std::ptrdiff_t plane, std::ptrdiff_t row,
                          std::ptrdiff_t length, const Diagonal& diagonal, double first, double second,
                          Scratch& scratch) {
  double* const density = scratch.rows[0].data();
  double* const x = scratch.rows[1].data();
  double* const y = scratch.rows[2].data();
  double* const z = scratch.rows[3].data();
  double* const energy = scratch.rows[4].data();
  double* const momentum_inverse = scratch.rows[5].data();
  double* const energy_inverse = scratch.rows[6].data();
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    const std::ptrdiff_t below = i + (sign * plane);
    const std::ptrdiff_t beside = i + (sign * row);
    const Vector a = coupled<0, sign>(ratios.point(below), v.vector(below), first, second);
    const Vector b = coupled<1, sign>(ratios.point(beside), v.vector(beside), first, second);
    density[i] = lu::omega * (a.density + b.density);
    x[i] = lu::omega * (a.x + b.x);
    y[i] = lu::omega * (a.y + b.y);
    z[i] = lu::omega * (a.z + b.z);
    energy[i] = lu::omega * (a.energy + b.energy);
    momentum_inverse[i] = 1 / (diagonal.constant + (diagonal.momentum * ratios.density[i]));
    energy_inverse[i] = 1 / (diagonal.constant + (diagonal.energy * ratios.density[i]));
  }
}

/// A row's points one after the other, from the first (sign -1) or the last.
template <int sign>
LU_INLINE void solve_row(const ConstRows& ratios, LuField& field, std::size_t begin, std::ptrdiff_t length,
                         const Diagonal& diagonal, double first, double second, const Scratch& scratch) {
  std::array<double*, lu_unknowns> v{};
  for (std::size_t m = 0; m < lu_unknowns; ++m) {
    v[m] = field.values[m].data() + begin;
  }
  std::ptrdiff_t i = sign < 0 ? 0 : length - 1;
  Vector last{v[0][i + sign], v[1][i + sign], v[2][i + sign], v[3][i + sign], v[4][i + sign]};
  for (std::ptrdiff_t step = 0; step < length; ++step, i -= sign) {
    const auto at = static_cast<std::size_t>(i);
    const Vector near = coupled<2, sign>(ratios.point(i + sign), last, first, second);
    Vector right{scratch.rows[0][at] + (lu::omega * near.density), scratch.rows[1][at] + (lu::omega * near.x),
                 scratch.rows[2][at] + (lu::omega * near.y), scratch.rows[3][at] + (lu::omega * near.z),
                 scratch.rows[4][at] + (lu::omega * near.energy)};
    if constexpr (sign < 0) {
      right = {v[0][i] - right.density, v[1][i] - right.x, v[2][i] - right.y, v[3][i] - right.z,
               v[4][i] - right.energy};
    }
    last = solve(diagonal, ratios.point(i), scratch.rows[5][at], scratch.rows[6][at], right);
    if constexpr (sign > 0) {
      last = {v[0][i] - last.density, v[1][i] - last.x, v[2][i] - last.y, v[3][i] - last.z, v[4][i] - last.energy};
    }
    v[0][i] = last.density;
    v[1][i] = last.x;
    v[2][i] = last.y;
    v[3][i] = last.z;
    v[4][i] = last.energy;
  }
}

template <int sign>
LU_INLINE void sweep_row(const LuShare& share, const LuField& ratios, LuField& v, std::size_t begin,
                         const Diagonal& diagonal, Scratch& scratch) {
  const lu::Steps steps(share.edge);
  const double first = share.dt * steps.first;
  const double second = share.dt * steps.second;
  const std::ptrdiff_t length = share.inner.size(2);
  const ConstRows at(ratios, begin);
  gather_row<sign>(at, ConstRows(v, begin), static_cast<std::ptrdiff_t>(share.layout.stride(0)),
                   static_cast<std::ptrdiff_t>(share.layout.stride(1)), length, diagonal, first, second, scratch);
  solve_row<sign>(at, v, begin, length, diagonal, first, second, scratch);
}

WORKLOADS_VECTORISED void lower_row(const LuShare& share, const LuField& ratios, LuField& v, std::size_t begin,
                                    const Diagonal& diagonal, Scratch& scratch) {
  sweep_row<-1>(share, ratios, v, begin, diagonal, scratch);
}

WORKLOADS_VECTORISED void upper_row(const LuShare& share, const LuField& ratios, LuField& v, std::size_t begin,
                                    const Diagonal& diagonal, Scratch& scratch) {
  sweep_row<1>(share, ratios, v, begin, diagonal, scratch);
}

}  // namespace

void lu_lower_sweep(const LuShare& share, const LuField& ratios, LuField& v, int plane) {
  const Diagonal diagonal(share);
  Scratch scratch(share.inner.size(2));
  for (int j = share.inner.begin[1]; j < share.inner.end[1]; ++j) {
    lower_row(share, ratios, v, share.layout.index(plane, j, share.inner.begin[2]), diagonal, scratch);
  }
}

void lu_upper_sweep(const LuShare& share, const LuField& ratios, LuField& v, int plane) {
  const Diagonal diagonal(share);
  Scratch scratch(share.inner.size(2));
  for (int j = share.inner.end[1] - 1; j >= share.inner.begin[1]; --j) {
    upper_row(share, ratios, v, share.layout.index(plane, j, share.inner.begin[2]), diagonal, scratch);
  }
}

}  // namespace workloads::npb
