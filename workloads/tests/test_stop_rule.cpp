// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "common/median_interval.h"
#include "common/stop_rule.h"

namespace workloads {
namespace {

double relative_width(const std::vector<double>& samples) {
  return median_interval(samples).value_or(MedianInterval{}).relative_width();
}

TEST(MedianInterval, RanksAreThoseOfTheTables) {
  // Le Boudec, Performance Evaluation, appendix A: the interval's lower rank j (here j - 1 samples lie below).
  EXPECT_EQ(samples_beyond_interval(0), std::nullopt);
  EXPECT_EQ(samples_beyond_interval(5), std::nullopt);
  EXPECT_EQ(samples_beyond_interval(6), 0U);
  EXPECT_EQ(samples_beyond_interval(8), 0U);
  EXPECT_EQ(samples_beyond_interval(9), 1U);
  EXPECT_EQ(samples_beyond_interval(10), 1U);
  EXPECT_EQ(samples_beyond_interval(20), 5U);
  EXPECT_EQ(samples_beyond_interval(70), 26U);
  EXPECT_EQ(samples_beyond_interval(100), 39U);
}

TEST(MedianInterval, LargeCountsContinueTheExactOnes) {
  const auto exact = samples_beyond_interval(1000).value_or(0);
  const auto normal = samples_beyond_interval(1001).value_or(0);
  EXPECT_EQ(exact, 468U);
  EXPECT_NEAR(static_cast<double>(exact), static_cast<double>(normal), 1.0);
}

TEST(MedianInterval, OfKnownData) {
  std::vector<double> samples(20);
  std::iota(samples.rbegin(), samples.rend(), 1.0);
  const auto interval = median_interval(samples).value_or(MedianInterval{});
  EXPECT_EQ(interval.median, 10.5);
  EXPECT_EQ(interval.low, 6.0);
  EXPECT_EQ(interval.high, 15.0);
  EXPECT_NEAR(interval.relative_width(), 9 / 10.5, 1e-12);
}

TEST(MedianInterval, ZeroMedianIsNotNarrow) {
  const std::vector<double> equal(6, 0.0);
  EXPECT_EQ(relative_width(equal), 0.0);
  const std::vector<double> around{-1, -1, 0, 0, 1, 1};
  EXPECT_TRUE(std::isinf(relative_width(around)));
}

TEST(StopRule, ConvergesWhenTheIntervalIsNarrow) {
  const SamplerOptions options{.min_samples = 10};
  std::vector<double> samples(9, 1.0);
  EXPECT_EQ(decide(options, samples, 0), Decision::go_on);
  samples.push_back(1.0);
  EXPECT_EQ(decide(options, samples, 0), Decision::converged);
}

TEST(StopRule, WideSamplesGoOnUntilTheirMostOrTheTimeBox) {
  const SamplerOptions options{.min_samples = 6, .max_samples = 12, .time_box_s = 2};
  std::vector<double> samples;
  for (int i = 0; i < 11; ++i) {
    samples.push_back(i % 2 == 0 ? 1.0 : 2.0);
    EXPECT_EQ(decide(options, samples, 1), Decision::go_on) << i;
  }
  EXPECT_EQ(decide(options, samples, 2), Decision::time_up);
  samples.push_back(2.0);
  EXPECT_EQ(decide(options, samples, 1), Decision::max_samples);
}

TEST(StopRule, OneSampleIsAlwaysTaken) {
  const SamplerOptions options{.time_box_s = 0};
  EXPECT_EQ(decide(options, {}, 10), Decision::go_on);
  const std::vector<double> one{1.0};
  EXPECT_EQ(decide(options, one, 10), Decision::time_up);
}

TEST(StopRule, FewSamplesNeverConverge) {
  const SamplerOptions options{.min_samples = 1};
  const std::vector<double> samples(5, 1.0);
  EXPECT_FALSE(is_converged(options, samples));
}

TEST(StopRule, WarmupTakesAtMostAQuarterOfTheTimeBoxAndAtLeastOne) {
  const SamplerOptions options{.warmup = 3, .time_box_s = 4};
  EXPECT_TRUE(still_warming_up(options, 0, 100));
  EXPECT_TRUE(still_warming_up(options, 2, 0.9));
  EXPECT_FALSE(still_warming_up(options, 1, 1.1));
  EXPECT_FALSE(still_warming_up(options, 3, 0));
  EXPECT_FALSE(still_warming_up({.warmup = 0}, 0, 0));
}

}  // namespace
}  // namespace workloads
