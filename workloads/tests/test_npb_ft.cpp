// SPDX-License-Identifier: BSD-3-Clause
// The serial pieces of NPB's FT. The whole benchmark, on several ranks, is in test_npb.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "npb/ft_kernel.h"

namespace workloads::npb {
namespace {

constexpr FtClass small_field{.name = "", .points = {4, 8, 2}, .sums = {}};

std::vector<Complex> started(const FtShare& share) {
  std::vector<Complex> planes(share.points());
  ft_start(share, planes);
  return planes;
}

TEST(Ft, TransformsAlongEachAxis) {
  const FtShare share(small_field, 0, 1, 2);
  std::vector<Complex> planes(share.points());
  std::vector<Complex> columns(share.points());
  const FtTransforms forward(share, true, planes, columns);
  const auto field = started(share);
  planes = field;
  for (int chunk = 0; chunk < share.chunks; ++chunk) {
    forward.along_x(chunk, planes);
  }
  forward.along_y(planes);
  for (int chunk = 0; chunk < share.chunks; ++chunk) {
    const auto part = std::span(columns).subspan(static_cast<std::size_t>(chunk) * share.chunk(), share.chunk());
    ft_pack(share, chunk, planes, part);  // of one rank a message is the columns
    forward.along_z(chunk, columns);
  }
  // point (x, y, z) = (3, 5, 1) of the spectrum by its definition; y 5 is row 1 of chunk 1
  Complex right = 0;
  for (int n = 0; n < 64; ++n) {
    const double turn = (3 * (n % 4) / 4.0) + (5 * (n / 4 % 8) / 8.0) + (1 * (n / 32) / 2.0);
    right += field[static_cast<std::size_t>(n)] * std::polar(1.0, -2 * std::numbers::pi * turn);
  }
  const std::size_t at = share.chunk() + (((1 * 4) + 1) * 4) + 3;
  EXPECT_NEAR(std::abs(columns[at] - right), 0, 1e-13);
}

TEST(Ft, BackwardUndoesForward) {
  const FtShare share(small_field, 0, 1, 4);
  std::vector<Complex> planes(share.points());
  std::vector<Complex> columns(share.points());
  const FtTransforms forward(share, true, planes, columns);
  const FtTransforms backward(share, false, planes, columns);
  const auto field = started(share);
  columns = field;
  planes = field;
  for (int chunk = 0; chunk < share.chunks; ++chunk) {
    forward.along_x(chunk, planes);
    forward.along_z(chunk, columns);
  }
  forward.along_y(planes);
  backward.along_y(planes);
  for (int chunk = 0; chunk < share.chunks; ++chunk) {
    backward.along_x(chunk, planes);
    backward.along_z(chunk, columns);
  }
  for (std::size_t n = 0; n < field.size(); ++n) {
    EXPECT_NEAR(std::abs((planes[n] / 32.0) - field[n]), 0, 1e-14);
    EXPECT_NEAR(std::abs((columns[n] / 2.0) - field[n]), 0, 1e-14);
  }
}

TEST(Ft, UnpackingUndoesPacking) {
  const FtShare share(small_field, 1, 2, 2);
  EXPECT_EQ(share.planes, 1);
  EXPECT_EQ(share.rows, 2);
  const auto field = started(share);
  std::vector<Complex> copy(field.size());
  for (int chunk = 0; chunk < share.chunks; ++chunk) {
    std::vector<Complex> message(share.chunk());
    ft_pack(share, chunk, field, message);
    EXPECT_EQ(message[share.message()], field[static_cast<std::size_t>((4 + (2 * chunk)) * 4)]);  // rank 1's first y
    ft_unpack(share, chunk, message, copy);
  }
  EXPECT_EQ(copy, field);
}

TEST(Ft, RanksStartWithTheSameFieldAndSumIt) {
  const auto& problem = ft_classes()[1];
  const FtShare all(problem, 0, 1, 1);
  const auto whole = started(all);
  std::vector<Complex> parts;
  Complex sum = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const FtShare share(problem, rank, 4, 4);
    const auto part = started(share);
    std::ranges::copy(part, std::back_inserter(parts));
    sum += ft_sum(share, part);
  }
  EXPECT_EQ(parts, whole);
  EXPECT_NEAR(std::abs(sum - ft_sum(all, whole)), 0, 1e-15);
}

TEST(Ft, DecayIsThatOfThePointsWave) {
  const FtShare share(small_field, 1, 2, 2);
  std::vector<double> decay(share.points());
  ft_decay(share, decay);
  // chunk 1, z 1, row 0, x 3: y is 6 of 8, waves -1, -2, -1
  const std::size_t at = share.chunk() + (((1 * 2) + 0) * 4) + 3;
  EXPECT_NEAR(decay[at], std::exp(-4e-6 * std::numbers::pi * std::numbers::pi * (1 + 4 + 1)), 1e-15);
  EXPECT_TRUE(std::ranges::all_of(decay, [](double d) { return d > 0 && d <= 1; }));
  std::vector<Complex> columns(share.points(), {2, -1});
  std::vector<Complex> copy(share.points());
  ft_evolve(decay, columns, copy);
  EXPECT_EQ(copy, columns);
  EXPECT_EQ(columns[at], Complex(2, -1) * decay[at]);
}

TEST(Ft, RefusesAWrongSum) {
  const auto& problem = ft_classes()[0];
  EXPECT_TRUE(is_right(problem, 0, problem.sums[0]));
  EXPECT_FALSE(is_right(problem, 0, problem.sums[0] * (1 + 3e-12)));
  EXPECT_FALSE(is_right(problem, 1, problem.sums[0]));
}

}  // namespace
}  // namespace workloads::npb
