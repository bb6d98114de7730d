// SPDX-License-Identifier: BSD-3-Clause
// NPB LU without its messages: the values that verify it, the exact solution, sums over a block.
#include "npb/lu_kernel.h"

#include <algorithm>
#include <cmath>

namespace workloads::npb {
namespace {

// The values that verify LU, from the specification of NPB 3.4.

bool is_near(double value, double right) noexcept {
  constexpr double tolerance = 1e-8;
  return std::abs(value - right) <= tolerance * std::abs(right);
}

}  // namespace

const std::array<LuClass, 6>& lu_classes() noexcept {
  static constexpr std::array<LuClass, 6> table{{
      {"S",
       12,
       50,
       0.5,
       {.residuals = {0.016196343210976703, 0.002197674516482132, 0.0015179927653399185, 0.0015029584435994323,
                      0.03426407315589646},
        .errors = {0.0006422331995796092, 8.414434204734792e-05, 5.8588269616485187e-05, 5.847422259515735e-05,
                   0.0013103347914111294},
        .surface = 7.841892886593708}},
      {"W",
       33,
       300,
       0.0015,
       {.residuals = {12.36511638192, 1.317228477799, 2.550120713095, 2.326187750252, 28.26799444189},
        .errors = {0.4867877144216, 0.05064652880982, 0.0928181810196, 0.08570126542733, 1.084277417792},
        .surface = 11.61399311023}},
      {"A",
       64,
       250,
       2.0,
       {.residuals = {779.0210760668937, 63.40276525969287, 194.9924972729248, 178.45301160418538, 1838.4760349464248},
        .errors = {29.964085685471943, 2.819457636500335, 7.347341269877474, 6.713922568777705, 70.71531568839258},
        .surface = 26.030925604886278}},
      {"B",
       102,
       250,
       2.0,
       {.residuals = {3553.2672969982737, 262.1475079531069, 883.3372185095219, 778.1277473942527, 7308.796959254531},
        .errors = {114.01176380212709, 8.109896365542157, 28.480597317698308, 25.90539456783294, 260.54907504857414},
        .surface = 47.88716270330823}},
      {"C",
       162,
       250,
       2.0,
       {.residuals = {10376.698032353785, 892.2124588010086, 2562.3881458266087, 2191.9434385783143, 17807.80572610612},
        .errors = {215.98639971694928, 15.57895592398636, 54.13188630772078, 48.22626431540454, 455.90291004325036},
        .surface = 66.64045535721813}},
      {"D",
       408,
       300,
       1.0,
       {.residuals = {48684.17937025, 4696.371050071, 12181.14549776, 10338.01493461, 71423.98413817},
        .errors = {375.2393004482, 30.84128893659, 94.34276905469, 82.30686681928, 700.262063621},
        .surface = 83.34101392503}},
  }};
  return table;
}

bool is_right(const LuClass& problem, const LuResult& result) noexcept {
  return std::ranges::equal(result.residuals, problem.right.residuals, is_near) &&
         std::ranges::equal(result.errors, problem.right.errors, is_near) &&
         is_near(result.surface, problem.right.surface);
}

namespace {

/// A row an unknown: the constant, then the three axes' terms of first to fourth degree, degree by degree.
constexpr std::array<std::array<double, 13>, lu_unknowns> coefficients{{
    {2, 0, 0, 4, 5, 3, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1, 0, 0, 0, 1, 2, 3, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2, 2, 0, 0, 0, 2, 3, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2, 2, 0, 0, 0, 2, 3, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5, 4, 3, 2, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
}};

/// At a place that is counted from 0 along axes 0 (zeta), 1 and 2.
Five exact_at(int edge, const Triple& place) {
  Five values{};
  for (std::size_t m = 0; m < lu_unknowns; ++m) {
    const auto& row = coefficients[m];
    values[m] = row[0];
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const double x = static_cast<double>(place[axes - 1 - axis]) / (edge - 1);
      double power = x;
      for (std::size_t term = 1 + axis; term < row.size(); term += axes, power *= x) {
        values[m] += row[term] * power;
      }
    }
  }
  return values;
}

/// What the faces' values give within: P + Q + R - PQ - QR - RP + PQR, of the interpolations between opposite faces.
Five interpolated_at(int edge, const Triple& place) {
  std::array<Five, 3> between{};
  for (std::size_t axis = 0; axis < between.size(); ++axis) {
    Triple low = place;
    Triple high = place;
    low[axis] = 0;
    high[axis] = edge - 1;
    const double x = static_cast<double>(place[axis]) / (edge - 1);
    const Five from = exact_at(edge, low);
    const Five to = exact_at(edge, high);
    for (std::size_t m = 0; m < lu_unknowns; ++m) {
      between[axis][m] = ((1 - x) * from[m]) + (x * to[m]);
    }
  }
  Five values{};
  for (std::size_t m = 0; m < lu_unknowns; ++m) {
    const double p = between[2][m];
    const double q = between[1][m];
    const double r = between[0][m];
    values[m] = p + q + r - (p * q) - (q * r) - (r * p) + (p * q * r);
  }
  return values;
}

/// Calls action(place in the grid, index in the block) for each point of a box.
template <class Action>
void for_each_point(const LuShare& share, const Box& box, Action action) {
  for (int i = box.begin[0]; i < box.end[0]; ++i) {
    for (int j = box.begin[1]; j < box.end[1]; ++j) {
      for (int k = box.begin[2]; k < box.end[2]; ++k) {
        action(Triple{share.first[0] + i - 1, share.first[1] + j - 1, share.first[2] + k - 1},
               share.layout.index(i, j, k));
      }
    }
  }
}

Box with_ghosts(const Layout& layout, int layers) {
  Box box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.begin[axis] = 1 - layers;
    box.end[axis] = layout.interior[axis] + 1 + layers;
  }
  return box;
}

double pressure(const LuField& u, std::size_t at) {
  const auto& [density, x, y, z, energy] = u.values;
  const double kinetic = ((x[at] * x[at]) + (y[at] * y[at]) + (z[at] * z[at])) / 2 / density[at];
  return lu::c2 * (energy[at] - kinetic);
}

}  // namespace

LuShare::LuShare(const LuClass& problem, const Decomposition& ranks) : edge(problem.edge), dt(problem.dt) {
  layout.ghosts = 2;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Span block = ranks.block(static_cast<int>(axis), edge);
    first[axis] = block.begin;
    layout.interior[axis] = block.size();
    inner.begin[axis] = block.begin == 0 ? 2 : 1;
    inner.end[axis] = block.end == edge ? block.size() : block.size() + 1;
  }
}

LuField::LuField(const Layout& layout) {
  for (auto& component : values) {
    component.resize(layout.points());
  }
}

void lu_exact(const LuShare& share, LuField& u) {
  for_each_point(share, with_ghosts(share.layout, 2), [&](const Triple& place, std::size_t at) {
    const Five values = exact_at(share.edge, place);
    for (std::size_t m = 0; m < lu_unknowns; ++m) {
      u.values[m][at] = values[m];
    }
  });
}

void lu_start(const LuShare& share, LuField& u) {
  lu_exact(share, u);
  for_each_point(share, share.inner, [&](const Triple& place, std::size_t at) {
    const Five values = interpolated_at(share.edge, place);
    for (std::size_t m = 0; m < lu_unknowns; ++m) {
      u.values[m][at] = values[m];
    }
  });
}

void lu_scale(const LuShare& share, LuField& v) {
  for (auto& component : v.values) {
    for_each_row(share.layout, share.inner, [&](std::size_t begin, std::size_t length) {
      double* const row = component.data() + begin;
      for (std::size_t i = 0; i < length; ++i) {
        row[i] *= share.dt;
      }
    });
  }
}

void lu_update(const LuShare& share, const LuField& v, LuField& u) {
  constexpr double factor = 1 / (lu::omega * (2 - lu::omega));
  for (std::size_t m = 0; m < lu_unknowns; ++m) {
    for_each_row(share.layout, share.inner, [&](std::size_t begin, std::size_t length) {
      const double* const from = v.values[m].data() + begin;
      double* const to = u.values[m].data() + begin;
#pragma omp simd
      for (std::size_t i = 0; i < length; ++i) {
        to[i] += factor * from[i];
      }
    });
  }
}

Five lu_squares(const LuShare& share, const LuField& v) {
  Five sums{};
  for (std::size_t m = 0; m < lu_unknowns; ++m) {
    for_each_row(share.layout, share.inner, [&](std::size_t begin, std::size_t length) {
      const double* const row = v.values[m].data() + begin;
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::size_t i = 0; i < length; ++i) {
        sum += row[i] * row[i];
      }
      sums[m] += sum;
    });
  }
  return sums;
}

Five lu_squares_of_error(const LuShare& share, const LuField& u) {
  Five sums{};
  for_each_point(share, share.inner, [&](const Triple& place, std::size_t at) {
    const Five right = exact_at(share.edge, place);
    for (std::size_t m = 0; m < lu_unknowns; ++m) {
      const double off = right[m] - u.values[m][at];
      sums[m] += off * off;
    }
  });
  return sums;
}

double lu_surface(const LuShare& share, const LuField& u) {
  // A box within the grid: from the second point to the last but one, but not along every axis.
  const Triple begin{2, 1, 1};
  const Triple end{share.edge - 2, share.edge - 3, share.edge - 2};  // both are in it
  double sum = 0;
  for_each_point(share, share.inner, [&](const Triple& place, std::size_t at) {
    std::array<int, axes> weight{};  // how many of a face's cells meet a point: twice as many between its edges
    std::array<bool, axes> on_face{};
    for (std::size_t axis = 0; axis < axes; ++axis) {
      if (place[axis] < begin[axis] || place[axis] > end[axis]) {
        return;
      }
      on_face[axis] = place[axis] == begin[axis] || place[axis] == end[axis];
      weight[axis] = on_face[axis] ? 1 : 2;
    }
    for (std::size_t axis = 0; axis < axes; ++axis) {
      if (on_face[axis]) {
        sum += weight[(axis + 1) % axes] * weight[(axis + 2) % axes] * pressure(u, at);
      }
    }
  });
  const double cell = 1.0 / (share.edge - 1) / (share.edge - 1);
  constexpr double quarter = 0.25;
  return quarter * cell * sum;
}

}  // namespace workloads::npb
