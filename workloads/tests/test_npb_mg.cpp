// SPDX-License-Identifier: BSD-3-Clause
// The serial pieces of NPB's MG. The whole benchmark, on several ranks, is in test_npb.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "npb/generator.h"
#include "npb/mg_kernel.h"

namespace workloads::npb {
namespace {

constexpr Layout block{.interior = {4, 6, 8}};
constexpr Layout finer_block{.interior = {8, 12, 16}};

/// Another number at each point, ghosts too.
MgField numbered(const Layout& layout) {
  MgField field(layout);
  Generator numbers;
  std::ranges::generate(field.values, [&] { return numbers.next(); });
  return field;
}

/// The weighted sum of a point and its 26 neighbours, by how many axes a neighbour is off.
double around(const MgField& field, int i, int j, int k, const std::array<double, 4>& weights) {
  double sum = 0;
  for (int code = 0; code < 27; ++code) {
    const Triple step{(code / 9) - 1, (code / 3 % 3) - 1, (code % 3) - 1};
    const auto off = static_cast<std::size_t>(std::ranges::count_if(step, [](int s) { return s != 0; }));
    sum += weights[off] * field.values[field.layout.index(i + step[0], j + step[1], k + step[2])];
  }
  return sum;
}

template <class Action>
void for_each_point(const Layout& layout, Action action) {
  for (int i = 1; i <= layout.interior[0]; ++i) {
    for (int j = 1; j <= layout.interior[1]; ++j) {
      for (int k = 1; k <= layout.interior[2]; ++k) {
        action(i, j, k, layout.index(i, j, k));
      }
    }
  }
}

TEST(Mg, ResidualAndSmootherAreTheSpecificationsStencils) {
  const auto u = numbered(block);
  auto r = numbered(block);
  const auto right = r;
  residual(u, r, r, block.inside(0));
  for_each_point(block, [&](int i, int j, int k, std::size_t at) {
    EXPECT_NEAR(r.values[at], right.values[at] - around(u, i, j, k, {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12}), 1e-14);
  });
  for (const bool small : {true, false}) {
    auto smoothed = u;
    smooth(right, smoothed, block.inside(0), small);
    const auto weights =
        small ? std::array{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0.0} : std::array{-3.0 / 17, 1.0 / 33, -1.0 / 61, 0.0};
    for_each_point(block, [&](int i, int j, int k, std::size_t at) {
      EXPECT_NEAR(smoothed.values[at], u.values[at] + around(right, i, j, k, weights), 1e-14);
    });
  }
}

TEST(Mg, RestrictionIsAWeightedMean) {
  const auto fine = numbered(finer_block);
  MgField coarse(block);
  restrict_to(fine, coarse, block.inside(0));
  for_each_point(block, [&](int i, int j, int k, std::size_t at) {
    EXPECT_NEAR(coarse.values[at], around(fine, 2 * i, 2 * j, 2 * k, {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16}), 1e-14);
  });
}

TEST(Mg, InterpolationIsExactForALinearField) {
  MgField coarse(block);
  const auto linear = [](double i, double j, double k) { return 1 + (2 * i) - (3 * j) + (0.5 * k); };
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 8; ++j) {
      for (int k = 0; k < 10; ++k) {
        coarse.values[coarse.layout.index(i, j, k)] = linear(i, j, k);
      }
    }
  }
  MgField fine(finer_block);
  interpolate(coarse, fine, {.begin = {0, 0, 0}, .end = {10, 14, 18}});
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 14; ++j) {
      for (int k = 0; k < 18; ++k) {
        EXPECT_NEAR(fine.values[fine.layout.index(i, j, k)], linear(i / 2.0, j / 2.0, k / 2.0), 1e-13);
      }
    }
  }
}

/// An operator in the boxes of inside and shell does what it does in all.
TEST(Mg, PartsOfABlockAreTheWholeBlock) {
  const auto coarse = numbered(block);
  const Box all{.begin = {0, 0, 0}, .end = {10, 14, 18}};
  auto whole = numbered(finer_block);
  auto parts = whole;
  interpolate(coarse, whole, all);
  const Box inner = finer_block.inside(1);
  interpolate(coarse, parts, inner);
  for (const Box& box : shell(all, inner)) {
    interpolate(coarse, parts, box);
  }
  EXPECT_EQ(parts.values, whole.values);
  EXPECT_EQ(shell(all, Box{}).size(), 1U);
  std::size_t points = inner.points();
  for (const Box& box : shell(all, inner)) {
    points += box.points();
  }
  EXPECT_EQ(points, all.points());
}

TEST(Mg, ChargesDoNotDependOnTheCut) {
  const auto& problem = mg_classes()[0];
  const Span all{.begin = 0, .end = 32};
  for (const bool largest : {true, false}) {
    const auto whole = extreme_points(problem, {all, all, all}, largest);
    auto cut = extreme_points(problem, {all, Span{.begin = 0, .end = 16}, all}, largest);
    std::ranges::copy(extreme_points(problem, {all, Span{.begin = 16, .end = 32}, all}, largest),
                      std::back_inserter(cut));
    keep_extreme(cut, largest);
    ASSERT_EQ(whole.size(), charges_of_a_sign);
    ASSERT_EQ(cut.size(), charges_of_a_sign);
    for (std::size_t n = 0; n < cut.size(); ++n) {
      EXPECT_EQ(cut[n].point, whole[n].point);
    }
    EXPECT_EQ(whole.front().value > 0.999, largest);
  }
}

}  // namespace
}  // namespace workloads::npb
