// SPDX-License-Identifier: BSD-3-Clause
#include "himeno/kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "common/vectorised.h"

namespace workloads::himeno {
namespace {

constexpr float omega = 0.8F;
constexpr std::ptrdiff_t vector_floats = 16;  // of the widest vectors

struct NamedGrid {
  std::string_view name;
  Triple points;
};

constexpr std::array<NamedGrid, 5> sizes{{
    {.name = "XS", .points = {32, 32, 64}},
    {.name = "S", .points = {64, 64, 128}},
    {.name = "M", .points = {128, 128, 256}},
    {.name = "L", .points = {256, 256, 512}},
    {.name = "XL", .points = {512, 512, 1024}},
}};

enum Array : std::uint8_t { p, bnd, wrk1, wrk2, a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, arrays_count };

/// The arrays at a row's first point, and the distances to the neighbouring rows and planes.
struct Row {
  std::array<float*, arrays_count> at;
  std::ptrdiff_t plane;
  std::ptrdiff_t line;
};

/// One row of the published loop. gosa is summed in single precision as published, but row by row: over a whole grid
/// single precision would lose digits, and the sum would depend on how the grid is cut.
WORKLOADS_VECTORISED float relax_row(const Row& row, std::ptrdiff_t length) {
  const float* __restrict now = row.at[p];
  const float* __restrict a_0 = row.at[a0];
  const float* __restrict a_1 = row.at[a1];
  const float* __restrict a_2 = row.at[a2];
  const float* __restrict a_3 = row.at[a3];
  const float* __restrict b_0 = row.at[b0];
  const float* __restrict b_1 = row.at[b1];
  const float* __restrict b_2 = row.at[b2];
  const float* __restrict c_0 = row.at[c0];
  const float* __restrict c_1 = row.at[c1];
  const float* __restrict c_2 = row.at[c2];
  const float* __restrict boundary = row.at[bnd];
  const float* __restrict source = row.at[wrk1];
  float* __restrict next = row.at[wrk2];
  const std::ptrdiff_t di = row.plane;
  const std::ptrdiff_t dj = row.line;
  const auto relax = [=](std::ptrdiff_t k) __attribute__((always_inline)) {
    const float s0 = (a_0[k] * now[k + di]) + (a_1[k] * now[k + dj]) + (a_2[k] * now[k + 1]) +
                     (b_0[k] * (now[k + di + dj] - now[k + di - dj] - now[k - di + dj] + now[k - di - dj])) +
                     (b_1[k] * (now[k + dj + 1] - now[k - dj + 1] - now[k + dj - 1] + now[k - dj - 1])) +
                     (b_2[k] * (now[k + di + 1] - now[k - di + 1] - now[k + di - 1] + now[k - di - 1])) +
                     (c_0[k] * now[k - di]) + (c_1[k] * now[k - dj]) + (c_2[k] * now[k - 1]) + source[k];
    const float residual = ((s0 * a_3[k]) - now[k]) * boundary[k];
    next[k] = now[k] + (omega * residual);
    return residual * residual;
  };
  const std::ptrdiff_t rest = length < vector_floats ? length : length % vector_floats;
  float gosa = 0;
#pragma omp simd reduction(+ : gosa)
  for (std::ptrdiff_t k = 0; k < length - rest; ++k) {
    gosa += relax(k);
  }
  if (length < vector_floats) {
    for (std::ptrdiff_t k = 0; k < length; ++k) {
      gosa += relax(k);
    }
  } else if (rest > 0) {  // the row's last vector once more, of which only the rest counts: faster than one by one
#pragma omp simd reduction(+ : gosa)
    for (std::ptrdiff_t lane = 0; lane < vector_floats; ++lane) {
      const float square = relax(length - vector_floats + lane);
      gosa += lane < vector_floats - rest ? 0.0F : square;
    }
  }
  return gosa;
}

/// sum over x of sin(mode pi x / (n + 1)) sqrt(2 / (n + 1)), squared: the share of a constant in one sine.
double share_of_mode(int mode, int n) {
  const double cotangent = 1 / std::tan(mode * std::numbers::pi / (2.0 * (n + 1)));
  return mode % 2 == 0 ? 0 : 2.0 / (n + 1) * cotangent * cotangent;
}

std::size_t padded(std::size_t points) {
  // Arrays that begin at the same place of a page would share the cache's sets: five lines further each.
  constexpr std::size_t page = 1024;
  constexpr std::size_t lines = 80;
  return ((points + page - 1) / page * page) + lines;
}

}  // namespace

std::span<const std::string_view> size_names() noexcept {
  static const auto names = [] {
    std::array<std::string_view, sizes.size()> list;
    std::ranges::transform(sizes, list.begin(), &NamedGrid::name);
    return list;
  }();
  return names;
}

Triple grid_of(std::string_view name) { return std::ranges::find(sizes, name, &NamedGrid::name)->points; }

Kernel::Kernel(const Triple& grid)
    : Kernel(grid, {Span{.begin = 1, .end = grid[0] - 1}, Span{.begin = 1, .end = grid[1] - 1},
                    Span{.begin = 1, .end = grid[2] - 1}}) {}

Kernel::Kernel(const Triple& grid, const std::array<Span, 3>& interior)
    : grid_(grid),
      place_(interior),
      layout_{.interior = {interior[0].size(), interior[1].size(), interior[2].size()}},
      distance_(padded(layout_.points())),
      arrays_(distance_ * arrays_count) {
  initialise();
}

void Kernel::initialise() {
  std::ranges::fill(arrays_, 0.0F);
  for (const auto one : {bnd, a0, a1, a2, c0, c1, c2}) {
    std::fill_n(array(one), layout_.points(), 1.0F);
  }
  std::fill_n(array(a3), layout_.points(), 1.0F / 6.0F);
  const auto last = static_cast<float>(grid_[0] - 1);
  for (int i = 0; i < layout_.interior[0] + 2; ++i) {
    const auto x = static_cast<float>(place_[0].begin - 1 + i);
    const float value = (x * x) / (last * last);
    std::fill_n(array(p) + layout_.index(i, 0, 0), layout_.stride(0), value);
    std::fill_n(array(wrk2) + layout_.index(i, 0, 0), layout_.stride(0), value);
  }
}

double Kernel::iterate() {
  double gosa = 0;
  const Box interior = layout_.inside(0);
  for_each_row(layout_, interior, [&](std::size_t first, std::size_t length) {
    Row row{.at = {},
            .plane = static_cast<std::ptrdiff_t>(layout_.stride(0)),
            .line = static_cast<std::ptrdiff_t>(layout_.stride(1))};
    for (int index = 0; index < arrays_count; ++index) {
      row.at[static_cast<std::size_t>(index)] = array(index) + first;
    }
    gosa += relax_row(row, static_cast<std::ptrdiff_t>(length));
  });
  for_each_row(layout_, interior, [&](std::size_t first, std::size_t length) {
    std::copy_n(array(wrk2) + first, length, array(p) + first);
  });
  return gosa;
}

double Kernel::points() const noexcept { return static_cast<double>(layout_.inside(0).points()); }

double exact_gosa(const Triple& grid, int iteration) {
  std::array<std::vector<double>, 3> share;
  std::array<std::vector<double>, 3> cosine;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int n = grid[axis] - 2;
    for (int mode = 1; mode <= n; mode += 2) {
      share[axis].push_back(share_of_mode(mode, n));
      cosine[axis].push_back(std::cos(mode * std::numbers::pi / (n + 1)));
    }
  }
  double sum = 0;
  for (std::size_t l = 0; l < share[0].size(); ++l) {
    for (std::size_t m = 0; m < share[1].size(); ++m) {
      for (std::size_t n = 0; n < share[2].size(); ++n) {
        const double factor = 1 - omega + (omega / 3.0 * (cosine[0][l] + cosine[1][m] + cosine[2][n]));
        sum += share[0][l] * share[1][m] * share[2][n] * std::pow(factor, 2 * (iteration - 1));
      }
    }
  }
  const double first = 1.0 / (3.0 * (grid[0] - 1) * (grid[0] - 1));
  return first * first * sum;
}

}  // namespace workloads::himeno
