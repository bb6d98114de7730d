// SPDX-License-Identifier: BSD-3-Clause
#include "minighost/stencil.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

#include "common/vectorised.h"

namespace workloads::minighost {
namespace {

WORKLOADS_VECTORISED void mean_of_7(const double* __restrict in, double* __restrict out, std::ptrdiff_t plane,
                                    std::ptrdiff_t line, std::ptrdiff_t length) {
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    out[k] = (in[k] + in[k - plane] + in[k + plane] + in[k - line] + in[k + line] + in[k - 1] + in[k + 1]) / 7;
  }
}

WORKLOADS_VECTORISED void mean_of_27(const double* __restrict in, double* __restrict out, std::ptrdiff_t plane,
                                     std::ptrdiff_t line, std::ptrdiff_t length) {
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    double sum = 0;
    for (std::ptrdiff_t i = -plane; i <= plane; i += plane) {
      for (std::ptrdiff_t j = -line; j <= line; j += line) {
        const double* row = in + i + j + k;
        sum += row[-1] + row[0] + row[1];
      }
    }
    out[k] = sum / 27;
  }
}

}  // namespace

void apply(Stencil stencil, const Layout& layout, const Box& box, const double* in, double* out) {
  const auto plane = static_cast<std::ptrdiff_t>(layout.stride(0));
  const auto line = static_cast<std::ptrdiff_t>(layout.stride(1));
  for_each_row(layout, box, [&](std::size_t first, std::size_t length) {
    const auto mean = stencil == Stencil::seven ? mean_of_7 : mean_of_27;
    mean(in + first, out + first, plane, line, static_cast<std::ptrdiff_t>(length));
  });
}

namespace {

constexpr double full_turn = 2 * std::numbers::pi;

/// Calls action(i, j, k, index in the block) for every point of the block, with the grid's i, j, k.
template <class Action>
void for_each_point(const Layout& layout, const std::array<Span, 3>& place, Action action) {
  for (int i = place[0].begin; i < place[0].end; ++i) {
    for (int j = place[1].begin; j < place[1].end; ++j) {
      const std::size_t row = layout.index(i - place[0].begin + 1, j - place[1].begin + 1, 1);
      for (int k = place[2].begin; k < place[2].end; ++k) {
        action(i, j, k, row + static_cast<std::size_t>(k - place[2].begin));
      }
    }
  }
}

}  // namespace

PlaneWave::PlaneWave(const Triple& grid, int variable)
    : grid_(grid), mode_{1 + (variable % 3), 1 + (variable / 3 % 2), 1 + (variable / 6 % 2)} {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double shift = axis == 0 ? variable : 0;
    for (int n = 0; n < grid[axis]; ++n) {
      phases_[axis].push_back(std::polar(1.0, shift + (full_turn * mode_[axis] * n / grid[axis])));
    }
  }
}

double PlaneWave::value(double amplitude, int i, int j, int k) const {
  const auto at = [&](std::size_t axis, int n) { return phases_[axis][static_cast<std::size_t>(n)]; };
  return 1 + (amplitude * (at(0, i) * at(1, j) * at(2, k)).real());
}

double PlaneWave::factor(Stencil stencil) const {
  std::array<double, 3> cosine{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    cosine[axis] = std::cos(full_turn * mode_[axis] / grid_[axis]);
  }
  if (stencil == Stencil::seven) {
    return (1 + (2 * (cosine[0] + cosine[1] + cosine[2]))) / 7;
  }
  return (1 + (2 * cosine[0])) * (1 + (2 * cosine[1])) * (1 + (2 * cosine[2])) / 27;
}

void PlaneWave::fill(const Layout& layout, const std::array<Span, 3>& place, double* field) const {
  for_each_point(layout, place, [&](int i, int j, int k, std::size_t here) { field[here] = value(1, i, j, k); });
}

std::string PlaneWave::check(const Layout& layout, const std::array<Span, 3>& place, const double* field,
                             Stencil stencil, int steps) const {
  constexpr double rounding = 1e-14;  // of a step: a sum of up to 27 numbers near 1
  const double amplitude = std::pow(factor(stencil), steps);
  std::string problem;
  for_each_point(layout, place, [&](int i, int j, int k, std::size_t here) {
    const double right = value(amplitude, i, j, k);
    const bool good = std::abs(field[here] - right) <= rounding * (steps + 10);  // not so for NaN
    if (!good && problem.empty()) {
      problem = fmt::format("after {} steps the field is {:.15g} at point ({}, {}, {}), and {:.15g} is right", steps,
                            field[here], i, j, k, right);
    }
  });
  return problem;
}

double PlaneWave::sum() const {
  std::complex<double> product = 1;
  for (const auto& phases : phases_) {
    product *= std::accumulate(phases.begin(), phases.end(), std::complex<double>());
  }
  return (static_cast<double>(grid_[0]) * grid_[1] * grid_[2]) + product.real();
}

}  // namespace workloads::minighost
