// SPDX-License-Identifier: BSD-3-Clause
// The right-hand side of LU: convection, viscosity and the fourth differences that damp, one axis after the other.
#include <algorithm>

#include "common/vectorised.h"
#include "npb/lu_kernel.h"

namespace workloads::npb {
namespace {

/// Rows of the five fields. (Named one by one where they are used: clang takes no structured binding in a simd loop.)
using Rows = std::array<const double*, lu_unknowns>;
using OutRows = std::array<double*, lu_unknowns>;

Rows rows_of(const LuField& field, std::size_t first) {
  Rows rows{};
  std::ranges::transform(field.values, rows.begin(), [&](const auto& values) { return values.data() + first; });
  return rows;
}

OutRows rows_of(LuField& field, std::size_t first) {
  OutRows rows{};
  std::ranges::transform(field.values, rows.begin(), [&](auto& values) { return values.data() + first; });
  return rows;
}

WORKLOADS_VECTORISED void ratios_row(const Rows& u, const OutRows& ratios, std::ptrdiff_t length) {
  const double* const density = u[0];
  const double* const x = u[1];
  const double* const y = u[2];
  const double* const z = u[3];
  const double* const energy = u[4];
  double* const inverse = ratios[0];
  double* const vx = ratios[1];
  double* const vy = ratios[2];
  double* const vz = ratios[3];
  double* const specific = ratios[4];
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    const double one = 1 / density[i];
    inverse[i] = one;
    vx[i] = one * x[i];
    vy[i] = one * y[i];
    vz[i] = one * z[i];
    specific[i] = one * energy[i];
  }
}

/// `s` from a point to the next one along `axis`.
WORKLOADS_VECTORISED void add_fluxes(const Rows& u, const Rows& ratios, const OutRows& out, std::ptrdiff_t length,
                                     std::ptrdiff_t s, int axis, const lu::Steps& steps) {
  const double* const density = u[0];
  const double* const x = u[1];
  const double* const y = u[2];
  const double* const z = u[3];
  const double* const energy = u[4];
  const double* const vx = ratios[1];
  const double* const vy = ratios[2];
  const double* const vz = ratios[3];
  const double* const specific = ratios[4];
  double* const out_density = out[0];
  double* const out_x = out[1];
  double* const out_y = out[2];
  double* const out_z = out[3];
  double* const out_energy = out[4];
  const double* const along = ratios[static_cast<std::size_t>(3 - axis)];  // the velocity
  const double* const momentum = u[static_cast<std::size_t>(3 - axis)];
  const double on_x = axis == 2 ? 1 : 0;
  const double on_y = axis == 1 ? 1 : 0;
  const double on_z = axis == 0 ? 1 : 0;
  const double first = steps.first;
  const double diffused = steps.second * lu::diffusion(axis);
  const double viscous = steps.second * lu::c34;
  const double stretched = viscous * (lu::four_thirds - 1);
  const double kinetic_part = viscous * 0.5 * (1 - (lu::c1 * lu::c5));
  const double along_part = viscous / 6;
  const double heat_part = viscous * lu::c1 * lu::c5;
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    const std::ptrdiff_t p = i + s;
    const std::ptrdiff_t m = i - s;
    const double w_p = along[p];
    const double w_0 = along[i];
    const double w_m = along[m];
    const double squares_p = (vx[p] * vx[p]) + (vy[p] * vy[p]) + (vz[p] * vz[p]);
    const double squares_0 = (vx[i] * vx[i]) + (vy[i] * vy[i]) + (vz[i] * vz[i]);
    const double squares_m = (vx[m] * vx[m]) + (vy[m] * vy[m]) + (vz[m] * vz[m]);
    const double q_p = 0.5 * density[p] * squares_p;
    const double q_m = 0.5 * density[m] * squares_m;
    const double pressed =
        (stretched * (w_p - (2 * w_0) + w_m)) - (first * lu::c2 * ((energy[p] - q_p) - (energy[m] - q_m)));
    out_density[i] += (diffused * (density[p] - (2 * density[i]) + density[m])) - (first * (momentum[p] - momentum[m]));
    out_x[i] += (diffused * (x[p] - (2 * x[i]) + x[m])) + (viscous * (vx[p] - (2 * vx[i]) + vx[m])) -
                (first * ((x[p] * w_p) - (x[m] * w_m))) + (on_x * pressed);
    out_y[i] += (diffused * (y[p] - (2 * y[i]) + y[m])) + (viscous * (vy[p] - (2 * vy[i]) + vy[m])) -
                (first * ((y[p] * w_p) - (y[m] * w_m))) + (on_y * pressed);
    out_z[i] += (diffused * (z[p] - (2 * z[i]) + z[m])) + (viscous * (vz[p] - (2 * vz[i]) + vz[m])) -
                (first * ((z[p] * w_p) - (z[m] * w_m))) + (on_z * pressed);
    out_energy[i] +=
        (diffused * (energy[p] - (2 * energy[i]) + energy[m])) +
        (kinetic_part * (squares_p - (2 * squares_0) + squares_m)) +
        (along_part * ((w_p * w_p) - (2 * w_0 * w_0) + (w_m * w_m))) +
        (heat_part * (specific[p] - (2 * specific[i]) + specific[m])) -
        (first * ((((lu::c1 * energy[p]) - (lu::c2 * q_p)) * w_p) - (((lu::c1 * energy[m]) - (lu::c2 * q_m)) * w_m)));
  }
}

/// What a fourth difference takes of a point and of its neighbours along an axis, from two before to two after.
using Weights = std::array<double, 5>;

/// Next to the boundary the difference leaves out what is on it or beyond. `place` from 0.
Weights weights_at(int place, int edge) {
  constexpr double side = -4;
  const int last = edge - 1;
  const bool next_to_it = place == 1 || place == last - 1;
  return {place > 2 ? 1.0 : 0.0, place > 1 ? side : 0, next_to_it ? 5.0 : 6.0, place < last - 1 ? side : 0,
          place < last - 2 ? 1.0 : 0.0};
}

WORKLOADS_VECTORISED void damp_row(const double* u, double* out, std::ptrdiff_t length, std::ptrdiff_t s,
                                   const Weights& weights) {
  const double far_before = lu::damping * weights[0];
  const double before = lu::damping * weights[1];
  const double here = lu::damping * weights[2];
  const double after = lu::damping * weights[3];
  const double far_after = lu::damping * weights[4];
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    out[i] -= (far_before * u[i - (2 * s)]) + (before * u[i - s]) + (here * u[i]) + (after * u[i + s]) +
              (far_after * u[i + (2 * s)]);
  }
}

}  // namespace

void lu_ratios(const LuShare& share, const LuField& u, LuField& ratios) {
  const auto& n = share.layout.interior;
  const Box box{.begin = {1, 0, 0}, .end = {n[0] + 1, n[1] + 2, n[2] + 2}};  // axis 0 is not cut
  for_each_row(share.layout, box, [&](std::size_t first, std::size_t length) {
    ratios_row(rows_of(u, first), rows_of(ratios, first), static_cast<std::ptrdiff_t>(length));
  });
}

void lu_add_operator(const LuShare& share, const LuField& u, const LuField& ratios, LuField& out) {
  const lu::Steps steps(share.edge);
  const auto& layout = share.layout;
  const Box& box = share.inner;
  const std::array<std::ptrdiff_t, 3> strides{static_cast<std::ptrdiff_t>(layout.stride(0)),
                                              static_cast<std::ptrdiff_t>(layout.stride(1)), 1};
  // Along a row the weights are one where the row is across the axis; along it they are so but for two points at
  // either end.
  const int head = std::clamp(3 - share.first[2] + 1, box.begin[2], box.end[2]);
  const int tail = std::clamp(share.edge - 3 - share.first[2] + 1, head, box.end[2]);
  for (int i = box.begin[0]; i < box.end[0]; ++i) {
    for (int j = box.begin[1]; j < box.end[1]; ++j) {
      const std::size_t first = layout.index(i, j, box.begin[2]);
      const auto from = rows_of(u, first);
      const auto to = rows_of(out, first);
      const std::ptrdiff_t length = box.size(2);
      for (int axis = 0; axis < 3; ++axis) {
        add_fluxes(from, rows_of(ratios, first), to, length, strides[static_cast<std::size_t>(axis)], axis, steps);
      }
      for (std::size_t m = 0; m < lu_unknowns; ++m) {
        damp_row(from[m], to[m], length, strides[0], weights_at(share.first[0] + i - 1, share.edge));
        damp_row(from[m], to[m], length, strides[1], weights_at(share.first[1] + j - 1, share.edge));
        const auto along = [&](int begin, int end) {
          const std::ptrdiff_t offset = begin - box.begin[2];
          damp_row(from[m] + offset, to[m] + offset, end - begin, 1,
                   weights_at(share.first[2] + begin - 1, share.edge));
        };
        along(head, tail);
        for (int k = box.begin[2]; k < head; ++k) {
          along(k, k + 1);
        }
        for (int k = tail; k < box.end[2]; ++k) {
          along(k, k + 1);
        }
      }
    }
  }
}

}  // namespace workloads::npb
