// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the applications without MPI. The whole benchmarks, with all sizes, are in test_applications.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "himeno/kernel.h"
#include "npb/ep_kernel.h"

namespace workloads {
namespace {

/// The published loop, in double precision: gosa of each iteration.
std::vector<double> plain_himeno(const Triple& grid, int iterations) {
  const auto [imax, jmax, kmax] = grid;
  const auto at = [&](int i, int j, int k) { return static_cast<std::size_t>((((i * jmax) + j) * kmax) + k); };
  std::vector<double> p(at(imax, 0, 0));
  for (int i = 0; i < imax; ++i) {
    std::fill_n(p.begin() + static_cast<std::ptrdiff_t>(at(i, 0, 0)), at(1, 0, 0),
                static_cast<double>(i * i) / ((imax - 1) * (imax - 1)));
  }
  std::vector<double> gosa;
  for (auto next = p; static_cast<int>(gosa.size()) < iterations; p = next) {
    gosa.push_back(0);
    for (int i = 1; i < imax - 1; ++i) {
      for (int j = 1; j < jmax - 1; ++j) {
        for (int k = 1; k < kmax - 1; ++k) {
          const double sum = p[at(i + 1, j, k)] + p[at(i - 1, j, k)] + p[at(i, j + 1, k)] + p[at(i, j - 1, k)] +
                             p[at(i, j, k + 1)] + p[at(i, j, k - 1)];
          const double residual = (sum / 6) - p[at(i, j, k)];
          gosa.back() += residual * residual;
          next[at(i, j, k)] = p[at(i, j, k)] + (0.8 * residual);
        }
      }
    }
  }
  return gosa;
}

TEST(Himeno, KernelAndClosedFormAgreeWithThePlainLoop) {
  constexpr int iterations = 12;
  for (const Triple grid : {Triple{6, 7, 6}, Triple{8, 5, 19}, Triple{17, 33, 6}, Triple{32, 32, 64}}) {
    const auto plain = plain_himeno(grid, iterations);
    himeno::Kernel kernel(grid);
    for (int n = 1; n <= iterations; ++n) {
      const double right = plain[static_cast<std::size_t>(n - 1)];
      EXPECT_NEAR(kernel.iterate(), right, 1e-3 * right) << grid[0] << " iteration " << n;
      EXPECT_NEAR(himeno::exact_gosa(grid, n), right, 1e-6 * right) << grid[0] << " iteration " << n;
    }
  }
}

TEST(Himeno, StartsAgain) {
  himeno::Kernel kernel({9, 9, 9});
  const double first = kernel.iterate();
  kernel.iterate();
  kernel.initialise();
  EXPECT_EQ(kernel.iterate(), first);
}

TEST(Himeno, APartOfTheGridIsThatPart) {
  const Triple grid{12, 10, 14};
  const Span all_j{.begin = 1, .end = 9};
  const Span all_k{.begin = 1, .end = 13};
  himeno::Kernel whole(grid);
  himeno::Kernel lower(grid, {Span{.begin = 1, .end = 6}, all_j, all_k});
  himeno::Kernel upper(grid, {Span{.begin = 6, .end = 11}, all_j, all_k});
  EXPECT_NEAR(lower.iterate() + upper.iterate(), whole.iterate(), 1e-9);
  EXPECT_EQ(lower.points() + upper.points(), whole.points());
  EXPECT_EQ(lower.pressure()[lower.layout().index(5, 3, 7)], whole.pressure()[whole.layout().index(5, 3, 7)]);
  EXPECT_EQ(upper.pressure()[upper.layout().index(1, 3, 7)], whole.pressure()[whole.layout().index(6, 3, 7)]);
}

TEST(Ep, PowersOfTheGenerator) {
  EXPECT_EQ(npb::power(npb::multiplier, 0), 1U);
  std::uint64_t product = 1;
  for (int n = 0; n < 100; ++n) {
    product = (product * npb::multiplier) & npb::modulus_mask;
  }
  EXPECT_EQ(npb::power(npb::multiplier, 100), product);
}

/// Two batches by the specification's own words, number by number.
npb::EpSums plain_ep() {
  npb::EpSums sums;
  std::uint64_t state = npb::seed;
  const auto next = [&] {
    state = (state * npb::multiplier) & npb::modulus_mask;
    return (2 * std::ldexp(static_cast<double>(state), -46)) - 1;
  };
  for (std::uint64_t pair = 0; pair < 2 * npb::pairs_a_batch; ++pair) {
    const double x = next();
    const double y = next();
    const double t = (x * x) + (y * y);
    if (t <= 1) {
      const double factor = std::sqrt(-2 * std::log(t) / t);
      sums.x += x * factor;
      sums.y += y * factor;
      ++sums.counts[static_cast<std::size_t>(std::max(std::abs(x * factor), std::abs(y * factor)))];
    }
  }
  return sums;
}

TEST(Ep, DoesWhatTheSpecificationSays) {
  const auto plain = plain_ep();
  const auto sums = npb::EpKernel().run(0, 2);
  EXPECT_NEAR(sums.x, plain.x, 1e-9 * std::abs(plain.x));
  EXPECT_NEAR(sums.y, plain.y, 1e-9 * std::abs(plain.y));
  EXPECT_EQ(sums.counts, plain.counts);
}

TEST(Ep, AnyCutGivesTheSamePairs) {
  npb::EpKernel kernel;
  const auto whole = kernel.run(3, 8);
  auto parts = kernel.run(3, 4);
  parts += kernel.run(4, 8);
  EXPECT_EQ(parts.counts, whole.counts);
  EXPECT_NEAR(parts.x, whole.x, 1e-9 * std::abs(whole.x));
}

TEST(Ep, RefusesWrongSums) {
  const auto& problem = npb::ep_classes()[0];
  npb::EpSums sums{.x = problem.x, .y = problem.y};
  EXPECT_TRUE(npb::is_right(problem, sums));
  sums.y *= 1 + 2e-8;
  EXPECT_FALSE(npb::is_right(problem, sums));
}

}  // namespace
}  // namespace workloads
