// SPDX-License-Identifier: BSD-3-Clause
#include "npb/mg_kernel.h"

#include <algorithm>
#include <cmath>

#include "common/vectorised.h"
#include "npb/generator.h"

namespace workloads::npb {
namespace {

/// What a point, its 6 faces, 12 edges and 8 corners count.
struct Weights {
  double centre;
  double face;
  double edge;
  double corner;
};

constexpr Weights operator_a{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
constexpr Weights smoother_small{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
constexpr Weights smoother_large{-3.0 / 17, 1.0 / 33, -1.0 / 61, 0};
constexpr Weights restriction{1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};

/// Sums of a row's four neighbours by faces and of its four by edges, from `first` - 1 to `first` + `length`; sums
/// begin with the point before the row.
WORKLOADS_VECTORISED void sum_across(const double* row, std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t length,
                                     double* __restrict faces, double* __restrict edges) {
  for (std::ptrdiff_t k = 0; k < length + 2; ++k) {
    const double* const p = row + k - 1;
    faces[k] = p[-j] + p[j] + p[-i] + p[i];
    edges[k] = p[-i - j] + p[-i + j] + p[i - j] + p[i + j];
  }
}

WORKLOADS_VECTORISED void residual_row(const double* u, const double* right, double* out, std::ptrdiff_t length,
                                       const double* __restrict faces, const double* __restrict edges) {
#pragma omp simd
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    out[k] = right[k] - (operator_a.centre * u[k]) - (operator_a.edge * (edges[k + 1] + faces[k] + faces[k + 2])) -
             (operator_a.corner * (edges[k] + edges[k + 2]));
  }
}

WORKLOADS_VECTORISED void smooth_row(const double* __restrict r, double* __restrict u, std::ptrdiff_t length,
                                     const double* __restrict faces, const double* __restrict edges,
                                     const Weights& weights) {
  const auto [centre, face, edge, corner] = weights;
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    u[k] += (centre * r[k]) + (face * (r[k - 1] + r[k + 1] + faces[k + 1])) +
            (edge * (edges[k + 1] + faces[k] + faces[k + 2]));
  }
}

/// `fine`, `faces` and `edges` as of the fine row's point 0.
WORKLOADS_VECTORISED void restrict_row(const double* __restrict fine, double* __restrict coarse, std::ptrdiff_t length,
                                       const double* __restrict faces, const double* __restrict edges) {
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    const double* const f = fine + (2 * k);
    const double* const x = faces + (2 * k) + 1;
    const double* const y = edges + (2 * k) + 1;
    coarse[k] = (restriction.centre * f[0]) + (restriction.face * (f[-1] + f[1] + x[0])) +
                (restriction.edge * (x[-1] + x[1] + y[0])) + (restriction.corner * (y[-1] + y[1]));
  }
}

/// A row between two, or four, coarse rows, each of which is named twice or more where there are fewer.
WORKLOADS_VECTORISED void mean_row(const std::array<const double*, 4>& rows, double* __restrict mean,
                                   std::ptrdiff_t length) {
  constexpr double quarter = 0.25;
  const auto [a, b, c, d] = rows;
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    mean[k] = quarter * (a[k] + b[k] + c[k] + d[k]);
  }
}

/// fine[k] += the mean of coarse points k / 2 and (k + 1) / 2, for k from `begin` to `end`.
WORKLOADS_VECTORISED void add_between(const double* __restrict coarse, double* __restrict fine, std::ptrdiff_t begin,
                                      std::ptrdiff_t end) {
  constexpr double half = 0.5;
  if (begin % 2 != 0 && begin < end) {
    fine[begin] += half * (coarse[begin / 2] + coarse[(begin / 2) + 1]);
  }
  for (std::ptrdiff_t m = (begin + 1) / 2; m < end / 2; ++m) {
    fine[2 * m] += coarse[m];
    fine[(2 * m) + 1] += half * (coarse[m] + coarse[m + 1]);
  }
  if (end % 2 != 0 && begin < end) {
    fine[end - 1] += coarse[end / 2];
  }
}

struct Scratch {
  explicit Scratch(std::ptrdiff_t length)
      : faces(static_cast<std::size_t>(length) + 2), edges(static_cast<std::size_t>(length) + 2) {}
  std::vector<double> faces;
  std::vector<double> edges;
};

struct Strides {
  explicit Strides(const Layout& layout)
      : i(static_cast<std::ptrdiff_t>(layout.stride(0))), j(static_cast<std::ptrdiff_t>(layout.stride(1))) {}
  std::ptrdiff_t i;
  std::ptrdiff_t j;
};

}  // namespace

const std::array<MgClass, 6>& mg_classes() noexcept {
  static constexpr std::array<MgClass, 6> table{{
      {"S", 5, 4, true, 0.5307707005734e-4},
      {"W", 7, 4, true, 0.6467329375339e-5},
      {"A", 8, 4, true, 0.2433365309069e-5},
      {"B", 8, 20, false, 0.1800564401355e-5},
      {"C", 9, 20, false, 0.5706732285740e-6},
      {"D", 10, 50, false, 0.1583275060440e-9},
  }};
  return table;
}

bool is_right(const MgClass& problem, double norm) noexcept {
  constexpr double tolerance = 1e-8;
  return std::abs(norm - problem.norm) <= tolerance * problem.norm;
}

void residual(const MgField& u, const MgField& right, MgField& out, const Box& box) {
  Scratch scratch(box.size(2));
  const Strides strides(u.layout);
  for_each_row(u.layout, box, [&](std::size_t first, std::size_t length) {
    const auto n = static_cast<std::ptrdiff_t>(length);
    const double* const row = u.values.data() + first;
    sum_across(row, strides.i, strides.j, n, scratch.faces.data(), scratch.edges.data());
    residual_row(row, right.values.data() + first, out.values.data() + first, n, scratch.faces.data(),
                 scratch.edges.data());
  });
}

void smooth(const MgField& r, MgField& u, const Box& box, bool small) {
  Scratch scratch(box.size(2));
  const Strides strides(r.layout);
  for_each_row(r.layout, box, [&](std::size_t first, std::size_t length) {
    const auto n = static_cast<std::ptrdiff_t>(length);
    const double* const row = r.values.data() + first;
    sum_across(row, strides.i, strides.j, n, scratch.faces.data(), scratch.edges.data());
    smooth_row(row, u.values.data() + first, n, scratch.faces.data(), scratch.edges.data(),
               small ? smoother_small : smoother_large);
  });
}

void restrict_to(const MgField& fine, MgField& coarse, const Box& box) {
  const std::ptrdiff_t length = (2 * box.size(2)) - 1;  // from the first point's fine one to the last's
  Scratch scratch(std::max<std::ptrdiff_t>(length, 0));
  const Strides strides(fine.layout);
  for (int i = box.begin[0]; i < box.end[0]; ++i) {
    for (int j = box.begin[1]; j < box.end[1]; ++j) {
      const double* const row = fine.values.data() + fine.layout.index(2 * i, 2 * j, 2 * box.begin[2]);
      sum_across(row, strides.i, strides.j, length, scratch.faces.data(), scratch.edges.data());
      restrict_row(row, coarse.values.data() + coarse.layout.index(i, j, box.begin[2]), box.size(2),
                   scratch.faces.data(), scratch.edges.data());
    }
  }
}

void interpolate(const MgField& coarse, MgField& fine, const Box& box) {
  const int first = box.begin[2] / 2;
  const int last = box.end[2] / 2;
  std::vector<double> mean(static_cast<std::size_t>(last) + 1);
  for (int i = box.begin[0]; i < box.end[0]; ++i) {
    for (int j = box.begin[1]; j < box.end[1]; ++j) {
      const auto row = [&](int up, int right) {
        return coarse.values.data() + coarse.layout.index((i + up) / 2, (j + right) / 2, first);
      };
      mean_row({row(0, 0), row(0, 1), row(1, 0), row(1, 1)}, mean.data() + first, last - first + 1);
      add_between(mean.data(), fine.values.data() + fine.layout.index(i, j, 0), box.begin[2], box.end[2]);
    }
  }
}

double sum_of_squares(const MgField& field) {
  double sum = 0;
  for_each_row(field.layout, field.layout.inside(0), [&](std::size_t first, std::size_t length) {
    const double* const row = field.values.data() + first;
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < length; ++k) {
      sum += row[k] * row[k];
    }
  });
  return sum;
}

std::vector<Charge> extreme_points(const MgClass& problem, const std::array<Span, 3>& block, bool largest) {
  const std::int64_t n = problem.edge();
  std::vector<Charge> charges;
  for (std::int64_t i = block[0].begin; i < block[0].end; ++i) {
    for (std::int64_t j = block[1].begin; j < block[1].end; ++j) {
      const std::int64_t row = ((i * n) + j) * n;
      Generator numbers(static_cast<std::uint64_t>(row + block[2].begin));
      for (std::int64_t k = block[2].begin; k < block[2].end; ++k) {
        const double value = numbers.next();
        const bool full = charges.size() == charges_of_a_sign;
        if (full && (largest ? value <= charges.back().value : value >= charges.back().value)) {
          continue;
        }
        charges.push_back({value, row + k});
        keep_extreme(charges, largest);
      }
    }
  }
  return charges;
}

void keep_extreme(std::vector<Charge>& charges, bool largest) {
  std::ranges::sort(charges,
                    [&](const Charge& a, const Charge& b) { return largest ? a.value > b.value : a.value < b.value; });
  charges.resize(std::min(charges.size(), charges_of_a_sign));
}

}  // namespace workloads::npb
