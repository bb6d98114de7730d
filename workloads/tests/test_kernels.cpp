// SPDX-License-Identifier: BSD-3-Clause
// What the applications' own verification refuses. That they compute what they should, whatever the cut, it verifies
// itself in each run, and test_applications.py makes it see wrong messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "common/kernel_counters.h"
#include "minighost/inflation.h"
#include "npb/ep_kernel.h"
#include "npb/ft_kernel.h"
#include "npb/lu_kernel.h"
#include "roofline/kernels.h"

namespace workloads::npb {
namespace {

TEST(Memory, IsWhatTheKernelCallsAvailable) {
  std::istringstream text("MemTotal:       16000000 kB\nMemFree:  5 kB\nMemAvailable:    2000 kB\nBuffers: 7 kB\n");
  EXPECT_EQ(parse_available_bytes(text), 2000 * 1024.0);
  std::istringstream old("MemTotal:       16000000 kB\n");
  EXPECT_GT(parse_available_bytes(old), 1e300);
}

TEST(Ep, RefusesWrongSums) {
  const auto& problem = ep_classes()[0];
  EpSums sums{.x = problem.x, .y = problem.y};
  EXPECT_TRUE(is_right(problem, sums));
  sums.y *= 1 + 2e-8;
  EXPECT_FALSE(is_right(problem, sums));
}

TEST(Ft, RefusesAWrongSum) {
  const auto& problem = ft_classes()[0];
  EXPECT_TRUE(is_right(problem, 0, problem.sums[0]));
  EXPECT_FALSE(is_right(problem, 0, problem.sums[0] * (1 + 3e-12)));
  EXPECT_FALSE(is_right(problem, 1, problem.sums[0]));
}

TEST(Lu, EachOfTheElevenValuesIsVerified) {
  const auto& problem = lu_classes()[0];
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
}  // namespace workloads::npb

namespace workloads::minighost {
namespace {

TEST(Inflation, IsTheSameWorkHoweverItIsCut) {
  Inflation once(8);
  Inflation often(8);
  const double before = once.mean();
  once.run(30);
  for (int n = 0; n < 30; ++n) {
    often.run(1);
  }
  EXPECT_EQ(once.mean(), often.mean());
  EXPECT_LT(once.mean(), before) << "towards the ghosts' 1";
}

TEST(HaloProbe, SeesWhatHasArrived) {
  for (const std::size_t size : {1U, 7U, 63U, 64U, 1000U, 100'001U}) {
    Payload halo(size);
    poison(halo.bytes(), 77);
    EXPECT_EQ(changed_share(halo.bytes(), 77), 0) << size;
    EXPECT_NE(halo.check(77), "");
    Payload message(size);
    message.fill(77);
    std::copy_n(message.bytes().begin(), size / 2, halo.bytes().begin());
    EXPECT_LT(changed_share(halo.bytes(), 77), 1) << size;
    std::ranges::copy(message.bytes(), halo.bytes().begin());
    EXPECT_EQ(changed_share(halo.bytes(), 77), 1) << size;
  }
  EXPECT_EQ(changed_share({}, 1), 1);
}

}  // namespace
}  // namespace workloads::minighost

namespace workloads::roofline {
namespace {

TEST(Triad, ReadsAndWritesEachValueInItsPlace) {
  for (const std::size_t length : {1U, 7U, 64U, 1001U}) {
    std::vector<float> a(length);
    std::vector<float> b(length);
    std::vector<float> c(length);
    for (std::size_t n = 0; n < length; ++n) {
      b[n] = static_cast<float>(n);
      c[n] = static_cast<float>(length - n);
    }
    triad(a, b, c, 3);
    for (std::size_t n = 0; n < length; ++n) {
      EXPECT_EQ(a[n], static_cast<float>((3 * length) - (2 * n))) << n;
    }
  }
}

TEST(Triad, OfNoSizeGoesBeyondTheCache) {
  constexpr std::size_t least = 240'000'000;
  for (const long unknown : {-1L, 0L, 32L << 20U}) {
    EXPECT_EQ(bytes_beyond(unknown), least) << unknown;
  }
  EXPECT_EQ(bytes_beyond(480L << 20U), std::size_t{960} << 20U);
}

}  // namespace
}  // namespace workloads::roofline
