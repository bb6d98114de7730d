// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "common/clock.h"
#include "common/fixed_work.h"
#include "common/machine.h"
#include "common/stop_rule.h"

namespace workloads {
namespace {

/// The generator's state after `steps` steps, by squaring: what the kernel must reach by doing them one by one.
std::uint64_t jump(std::uint64_t state, std::uint64_t steps) {
  std::uint64_t multiplier = generator_multiplier;
  std::uint64_t increment = generator_increment;
  for (; steps > 0; steps /= 2) {
    if (steps % 2 == 1) {
      state = (multiplier * state) + increment;
    }
    increment *= multiplier + 1;
    multiplier *= multiplier;
  }
  return state;
}

double seconds_of(FixedWork& work, std::uint64_t units) {
  const auto begin = Clock::now();
  work.run(units);
  return seconds_since(begin);
}

// How many times as long `more` units take as `fewer`, by the shortest of each, since a disturbed run only takes
// longer. Both are run by turns, until what others do on the machine has spared one of each.
double ratio_of_times(FixedWork& work, std::uint64_t more, std::uint64_t fewer, double meant, double tolerance) {
  constexpr int least = 15;
  constexpr int most = 1000;
  double of_more = std::numeric_limits<double>::max();
  double of_fewer = of_more;
  for (int turn = 0; turn < most; ++turn) {
    of_more = std::min(of_more, seconds_of(work, more));
    of_fewer = std::min(of_fewer, seconds_of(work, fewer));
    if (turn >= least && std::abs(of_more / of_fewer - meant) <= tolerance) break;
  }
  return of_more / of_fewer;
}

TEST(RegisterWork, DoesEveryStep) {
  for (const std::uint64_t units : {0U, 1U, 7U, 1000U}) {
    const auto work = make_fixed_work(WorkKind::register_bound);
    work->run(units);
    EXPECT_EQ(work->checksum(), jump(1, units * register_steps_per_unit)) << units;
  }
}

TEST(MemoryWork, AdvancesEveryWordOfTheRingInTurn) {
  constexpr std::uint64_t largest_ring_words = (256U << 20U) / sizeof(std::uint64_t);
  constexpr std::uint64_t once_around = largest_ring_words / memory_words_per_unit;
  const auto work = make_fixed_work(WorkKind::memory_bound);
  work->run(once_around);  // at least one whole round, so that the place it stands on has been advanced
  const std::uint64_t advanced = work->checksum() - once_around;
  bool known = false;
  for (std::uint64_t rounds = 1; rounds <= 4; ++rounds) {  // the ring has 64 MiB at least
    known = known || advanced == jump(1, rounds);
  }
  EXPECT_TRUE(known) << advanced;
}

TEST(Sleeping, LastsAsLongAsItsUnitsAndTakesNoCore) {
  constexpr std::uint64_t units = 200'000;
  const auto begin = Clock::now();
  const double cpu_s = thread_cpu_s();
  sleep_units(units);
  EXPECT_GE(seconds_since(begin), units * slept_unit_s);
  EXPECT_LT(thread_cpu_s() - cpu_s, units * slept_unit_s / 10);
}

TEST(FixedWork, SplitWorkIsTheSameWork) {
  for (const auto kind : {WorkKind::register_bound, WorkKind::memory_bound}) {
    const auto whole = make_fixed_work(kind);
    const auto parts = make_fixed_work(kind);
    whole->run(10);
    parts->run(3);
    parts->run(0);
    parts->run(7);
    EXPECT_EQ(whole->checksum(), parts->checksum());
  }
}

TEST(FixedWork, TimeIsLinearInUnits) {
  constexpr double tolerance = 0.6;  // generous, because other tests share the machine
  const auto work = make_fixed_work(WorkKind::register_bound);
  EXPECT_NEAR(ratio_of_times(*work, 200, 50, 4.0, tolerance), 4.0, tolerance);
}

TEST(Clock, ResolutionIsMeasured) {
  const double resolution = measured_clock_resolution_s();
  EXPECT_GT(resolution, 0);
  EXPECT_LT(resolution, 1e-3);
}

TEST(Clock, SpinningTakesAtLeastItsTimeAndCpu) {
  const auto begin = Clock::now();
  const double cpu = process_cpu_s();
  spin_for(2e-3);
  EXPECT_GE(seconds_since(begin), 2e-3);
  EXPECT_GT(process_cpu_s(), cpu);
  spin_for(-1);  // the time is over already
}

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

TEST(StopRule, PairsAreTwoAtLeastAndWholeAndFillTheTimeBoxHoweverAlikeTheSamplesAre) {
  const SamplerOptions options{.min_samples = 6, .max_samples = 12, .time_box_s = 2, .on_off = true};
  for (std::size_t count = 1; count < 12; ++count) {
    const std::vector<double> alike(count, 1.0);
    EXPECT_EQ(decide(options, alike, 1), Decision::go_on) << count;
    EXPECT_EQ(decide(options, alike, 3), count >= 4 && count % 2 == 0 ? Decision::time_up : Decision::go_on) << count;
  }
  EXPECT_EQ(decide(options, std::vector<double>(12, 1.0), 1), Decision::max_samples);
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
