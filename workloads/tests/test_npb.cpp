// SPDX-License-Identifier: BSD-3-Clause
// The serial pieces of the kernels of NPB. The whole benchmarks, on several ranks, are in test_npb.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <sstream>
#include <vector>

#include "common/kernel_counters.h"
#include "npb/cg_kernel.h"
#include "npb/ft_kernel.h"
#include "npb/generator.h"
#include "npb/is_kernel.h"
#include "npb/lu_kernel.h"
#include "npb/mg_kernel.h"

namespace workloads::npb {
namespace {

using testing::ElementsAre;

TEST(Memory, IsWhatTheKernelCallsAvailable) {
  std::istringstream text("MemTotal:       16000000 kB\nMemFree:  5 kB\nMemAvailable:    2000 kB\nBuffers: 7 kB\n");
  EXPECT_EQ(parse_available_bytes(text), 2000 * 1024.0);
  std::istringstream old("MemTotal:       16000000 kB\n");
  EXPECT_GT(parse_available_bytes(old), 1e300);
}

TEST(Generator, LeavesNumbersOut) {
  Generator whole;
  for (int n = 0; n < 1000; ++n) {
    whole.next();
  }
  Generator rest(1000);
  EXPECT_EQ(rest.next(), whole.next());
}

TEST(Is, AnyNumberOfRanksHasTheSameKeys) {
  const auto& problem = is_classes()[0];
  const auto whole = is_keys(problem, 0, 1);
  EXPECT_EQ(whole.size(), std::size_t{1} << 16U);
  EXPECT_TRUE(std::ranges::all_of(whole, [&](Key key) { return key >= 0 && key < problem.limit(); }));
  std::vector<Key> parts;
  for (int rank = 0; rank < 4; ++rank) {
    std::ranges::copy(is_keys(problem, rank, 4), std::back_inserter(parts));
  }
  EXPECT_EQ(parts, whole);
}

TEST(Is, PutsKeysIntoBuckets) {
  const auto& problem = is_classes()[0];
  const auto keys = is_keys(problem, 1, 8);
  std::vector<Key> sorted(keys.size());
  BucketSort sort(problem);
  sort.sort(keys, sorted);
  const auto bucket = [](Key key) { return key / 4; };  // 2^11 values in 2^9 buckets
  EXPECT_TRUE(std::ranges::is_sorted(sorted, {}, bucket));
  EXPECT_TRUE(std::ranges::is_permutation(sorted, keys));
  EXPECT_EQ(sort.sizes()[100], std::ranges::count(keys, 100, bucket));
}

TEST(Is, SharesBuckets) {
  const std::vector<std::int64_t> even{2, 2, 2, 2};
  EXPECT_THAT(share_buckets(even, 2), ElementsAre(0, 2, 4));
  const std::vector<std::int64_t> gaps{0, 3, 1, 0};
  EXPECT_THAT(share_buckets(gaps, 2), ElementsAre(0, 2, 4));
  const std::vector<std::int64_t> heap{0, 8, 0, 0};
  EXPECT_THAT(share_buckets(heap, 4), ElementsAre(0, 2, 3, 4, 4));
}

TEST(Is, RanksAndSorts) {
  const std::vector<Key> keys{7, 5, 9, 5, 8, 5};
  Ranking ranking;
  ranking.restart(5, 10);
  ranking.count(std::span(keys).first(2));
  ranking.count(std::span(keys).subspan(2));
  EXPECT_EQ(ranking.finish(), 39);
  EXPECT_EQ(ranking.strays(), 0);
  EXPECT_EQ(ranking.rank(5), 0);
  EXPECT_EQ(ranking.rank(6), 3);
  EXPECT_EQ(ranking.rank(9), 5);
  EXPECT_THAT(ranking.sort(keys), ElementsAre(5, 5, 5, 7, 8, 9));
}

TEST(Is, CountsKeysOfOtherRangesApart) {
  const std::vector<Key> keys{4, 5, 9, 10, -3};
  Ranking ranking;
  ranking.restart(5, 10);
  ranking.count(keys);
  EXPECT_EQ(ranking.finish(), 14);
  EXPECT_EQ(ranking.strays(), 3);
}

TEST(Is, RanksOfTheProbesMoveWithTheIterations) {
  const auto& w = is_classes()[1];
  EXPECT_EQ(w.right_rank(0, 1), 1248);
  EXPECT_EQ(w.right_rank(4, 10), 1048008);
  const auto& a = is_classes()[2];
  EXPECT_EQ(a.right_rank(4, 1), 8388264);
  EXPECT_EQ(a.right_rank(4, 3), 8388262);
}

/// All elements, zeros too, by row.
std::vector<double> dense(const SparseBlock& block, int columns) {
  const std::size_t rows = block.begin.size() - 1;
  std::vector<double> values(rows * static_cast<std::size_t>(columns));
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = block.begin[row]; i < block.begin[row + 1]; ++i) {
      values[(row * static_cast<std::size_t>(columns)) + static_cast<std::size_t>(block.column[i])] += block.value[i];
    }
  }
  return values;
}

constexpr CgClass small_matrix{.name = "", .n = 37, .nonzeros = 3, .iterations = 1, .shift = 10, .zeta = 0};

TEST(Cg, MatrixIsSymmetricAndHasItsShiftOnTheDiagonal) {
  const auto matrix = dense(cg_matrix(small_matrix, {0, 37}, {0, 37}), 37);
  for (std::size_t row = 0; row < 37; ++row) {
    for (std::size_t column = 0; column < row; ++column) {
      EXPECT_NEAR(matrix[(row * 37) + column], matrix[(column * 37) + row], 1e-15);
    }
    EXPECT_LT(matrix[row * 38], 0.1 - 10 + 37);
    EXPECT_GE(matrix[row * 38], 0.1 - 10 + (0.25 * 0.1));  // own elements are 0.5, scaled by 0.1 at the least
  }
}

TEST(Cg, BlocksAreThoseOfTheWholeMatrix) {
  const auto whole = dense(cg_matrix(small_matrix, {0, 37}, {0, 37}), 37);
  const auto block = dense(cg_matrix(small_matrix, {5, 30}, {18, 37}), 19);
  for (std::size_t row = 0; row < 25; ++row) {
    for (std::size_t column = 0; column < 19; ++column) {
      EXPECT_EQ(block[(row * 19) + column], whole[((row + 5) * 37) + column + 18]);
    }
  }
}

TEST(Cg, MultipliesSomeRows) {
  const auto block = cg_matrix(small_matrix, {5, 30}, {18, 37});
  const auto matrix = dense(block, 19);
  std::vector<double> x(19);
  std::iota(x.begin(), x.end(), 1.0);
  std::vector<double> y(25, -7);
  multiply(block, {2, 20}, x.data(), y.data());
  EXPECT_EQ(y[1], -7);
  EXPECT_EQ(y[20], -7);
  for (std::size_t row = 2; row < 20; ++row) {
    const auto* const first = matrix.data() + (row * 19);
    EXPECT_NEAR(y[row], std::inner_product(first, first + 19, x.begin(), 0.0), 1e-12);
  }
}

TEST(Cg, RanksKeepEachRowOnceAndFindWhoNeedsIt) {
  for (const int ranks : {1, 2, 4, 8, 16, 32}) {
    for (int rank = 0; rank < ranks; ++rank) {
      const CgGrid grid(37, rank, ranks);
      const CgGrid other(37, grid.transposed(), ranks);
      EXPECT_EQ(other.transposed(), rank);
      EXPECT_EQ(other.rows().begin + other.kept().begin, grid.columns().begin);
      EXPECT_EQ(other.kept().size(), grid.columns().size());
      EXPECT_EQ(grid.kept().size() + grid.given().size(), grid.rows().size());
      for (const int partner : grid.partners()) {
        EXPECT_EQ(CgGrid(37, partner, ranks).rows().begin, grid.rows().begin);
      }
      if (grid.given().size() > 0) {
        EXPECT_EQ(CgGrid(37, grid.partners().front(), ranks).kept().begin, grid.given().begin);
      }
    }
  }
}

}  // namespace

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

namespace {

const LuClass& smallest() { return lu_classes()[0]; }

/// A field with its ghosts, and the operator's value of it.
struct Part {
  explicit Part(const LuShare& its_share) : share(its_share), u(share.layout), ratios(share.layout), out(share.layout) {
    lu_exact(share, u);
    lu_ratios(share, u, ratios);
    lu_add_operator(share, u, ratios, out);
  }

  LuShare share;
  LuField u;
  LuField ratios;
  LuField out;
};

template <class Action>
void for_each_inner_point(const LuShare& share, Action action) {
  for (int i = share.inner.begin[0]; i < share.inner.end[0]; ++i) {
    for (int j = share.inner.begin[1]; j < share.inner.end[1]; ++j) {
      for (int k = share.inner.begin[2]; k < share.inner.end[2]; ++k) {
        action(Triple{i, j, k});
      }
    }
  }
}

TEST(Lu, OperatorIsTheSameHoweverTheGridIsCut) {
  const Part whole(LuShare(smallest(), Decomposition(0, {1, 1, 1}, false)));
  for (const Triple& cut : {Triple{1, 2, 2}, Triple{1, 4, 3}, Triple{1, 1, 4}}) {
    std::size_t points = 0;
    for (int rank = 0; rank < cut[1] * cut[2]; ++rank) {
      const Part part(LuShare(smallest(), Decomposition(rank, cut, false)));
      for_each_inner_point(part.share, [&](const Triple& at) {
        const auto here = part.share.layout.index(at[0], at[1], at[2]);
        const auto there = whole.share.layout.index(at[0] + part.share.first[0], at[1] + part.share.first[1],
                                                    at[2] + part.share.first[2]);
        ++points;
        for (std::size_t m = 0; m < lu_unknowns; ++m) {
          EXPECT_NEAR(part.out.values[m][here], whole.out.values[m][there], 1e-11);
        }
      });
    }
    EXPECT_EQ(points, whole.share.inner.points());
  }
}

/// What one point holds comes to those after it by the lower sweep, to those before it by the upper one, and no others.
TEST(Lu, SweepsGoThroughTheGridInTheirDirections) {
  const LuShare share(smallest(), Decomposition(0, {1, 1, 1}, false));
  LuField u(share.layout);
  LuField ratios(share.layout);
  lu_exact(share, u);
  lu_ratios(share, u, ratios);
  LuField v(share.layout);
  for (std::size_t m = 0; m < lu_unknowns; ++m) {
    v.values[m][share.layout.index(4, 5, 6)] = 1.0 + static_cast<double>(m);
  }
  LuField after = v;
  for (int plane = share.inner.begin[0]; plane < share.inner.end[0]; ++plane) {
    lu_lower_sweep(share, ratios, after, plane);
  }
  for_each_inner_point(share, [&](const Triple& at) {
    const bool reached = at[0] >= 4 && at[1] >= 5 && at[2] >= 6;
    const double value = after.values[0][share.layout.index(at[0], at[1], at[2])];
    EXPECT_EQ(value != 0, reached) << at[0] << ' ' << at[1] << ' ' << at[2];
  });
  LuField before = v;
  for (int plane = share.inner.end[0] - 1; plane >= share.inner.begin[0]; --plane) {
    lu_upper_sweep(share, ratios, before, plane);
  }
  for_each_inner_point(share, [&](const Triple& at) {
    const bool reached = at[0] <= 4 && at[1] <= 5 && at[2] <= 6;
    const double value = before.values[0][share.layout.index(at[0], at[1], at[2])];
    EXPECT_EQ(value != 0, reached) << at[0] << ' ' << at[1] << ' ' << at[2];
  });
}

TEST(Lu, EachOfTheElevenValuesIsVerified) {
  const auto& problem = smallest();
  EXPECT_TRUE(is_right(problem, problem.right));
  for (std::size_t m = 0; m < lu_unknowns; ++m) {
    for (const auto values : {&LuResult::residuals, &LuResult::errors}) {
      auto wrong = problem.right;
      (wrong.*values)[m] *= 1 + 2e-8;
      EXPECT_FALSE(is_right(problem, wrong));
    }
  }
  auto wrong = problem.right;
  wrong.surface *= 1 - 2e-8;
  EXPECT_FALSE(is_right(problem, wrong));
}

}  // namespace

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
