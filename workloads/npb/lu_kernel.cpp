// SPDX-License-Identifier: BSD-3-Clause
#include "npb/lu_kernel.h"

#include <algorithm>

#include "npb/lu_physics.h"

namespace workloads::npb {
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
  constexpr std::size_t axes = 3;
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
  constexpr std::size_t axes = 3;
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
