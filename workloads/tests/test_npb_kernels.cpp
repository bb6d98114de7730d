// SPDX-License-Identifier: BSD-3-Clause
// The serial pieces of NPB's IS and CG, and what the kernels share. The whole benchmarks, on several ranks, are in
// test_npb.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "common/meminfo.h"
#include "npb/cg_grid.h"
#include "npb/cg_kernel.h"
#include "npb/generator.h"
#include "npb/is_kernel.h"

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
}  // namespace workloads::npb
