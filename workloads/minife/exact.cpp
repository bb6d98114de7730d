// SPDX-License-Identifier: BSD-3-Clause
#include "minife/exact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace workloads::minife {
namespace {

constexpr std::size_t terms = 21;  // of each sum, odd waves up to 41: at x = 3/4 those left out are below 1e-14

using Terms = std::array<double, terms>;

double wave(std::size_t term) { return static_cast<double>((2 * term) + 1); }

/// sin(m pi place) for all m.
Terms sines(int node, int nodes) {
  Terms values{};
  for (std::size_t term = 0; term < terms; ++term) {
    values[term] = std::sin(wave(term) * std::numbers::pi * node / (nodes - 1));
  }
  return values;
}

std::vector<Terms> sines_of(const Box& box, std::size_t axis, const Triple& nodes) {
  std::vector<Terms> values;
  for (int node = box.begin[axis]; node < box.end[axis]; ++node) {
    values.push_back(sines(node, nodes[axis]));
  }
  return values;
}

/// The factor of sin(m pi z) sin(n pi y) at x.
double factor(double m, double n, double x) {
  constexpr double pi = std::numbers::pi;
  const double k = pi * std::hypot(m, n);
  const double sinh_ratio = (std::exp(k * (x - 1)) - std::exp(-k * (x + 1))) / (1 - std::exp(-2 * k));
  return 16 / (pi * pi * m * n) * sinh_ratio;
}

std::array<Terms, terms> factors(double x) {
  std::array<Terms, terms> values{};
  for (std::size_t m = 0; m < terms; ++m) {
    for (std::size_t n = 0; n < terms; ++n) {
      values[m][n] = factor(wave(m), wave(n), x);
    }
  }
  return values;
}

/// Those with x <= 3/4.
Box compared(Box mine, const Triple& nodes) {
  const int end = (3 * (nodes[2] - 1) / 4) + 1;
  mine.end[2] = std::max(std::min(mine.end[2], end), mine.begin[2]);
  return mine;
}

}  // namespace

Exact::Exact(const Triple& nodes, const Box& mine)
    : layout_{.interior = {mine.size(0), mine.size(1), mine.size(2)}}, compared_(compared(mine, nodes)) {
  const auto along_z = sines_of(compared_, 0, nodes);
  const auto along_y = sines_of(compared_, 1, nodes);
  values_.reserve(compared_.points());
  for (int x = compared_.begin[2]; x < compared_.end[2]; ++x) {
    const auto at_x = factors(static_cast<double>(x) / (nodes[2] - 1));
    for (const Terms& z : along_z) {
      Terms at_z{};
      for (std::size_t m = 0; m < terms; ++m) {
        for (std::size_t n = 0; n < terms; ++n) {
          at_z[n] += z[m] * at_x[m][n];
        }
      }
      for (const Terms& y : along_y) {
        double value = 0;
        for (std::size_t n = 0; n < terms; ++n) {
          value += at_z[n] * y[n];
        }
        values_.push_back(value);
      }
    }
  }
}

ErrorSum Exact::compare(const std::vector<double>& values) const {
  ErrorSum sum;
  auto right = values_.begin();
  for (int x = 1; x <= compared_.size(2); ++x) {
    for (int z = 1; z <= compared_.size(0); ++z) {
      for (int y = 1; y <= compared_.size(1); ++y) {
        sum.squares += std::pow(values[layout_.index(z, y, x)] - *right++, 2);
      }
    }
  }
  sum.nodes = static_cast<double>(values_.size());
  return sum;
}

double Exact::tolerance(const Triple& nodes) {
  const double longest = 1.0 / (*std::ranges::min_element(nodes) - 1);
  return longest * longest;
}

}  // namespace workloads::minife
