// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/phases.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>
#include <random>

namespace progress_engine {
namespace {

std::vector<PhasePair> around(double armed, double disarmed) {
  std::vector<PhasePair> pairs;
  for (const double noise : {0.99, 1.0, 1.01, 1.005, 0.995, 1.002, 0.998})
    pairs.push_back({.armed_s = armed * noise, .disarmed_s = disarmed / noise});
  return pairs;
}

TEST(Verdict, IsMeasuredOrNotGiven) {
  EXPECT_EQ(judge_phases({}).word, "not measured");
  EXPECT_EQ(judge_phases(std::vector<PhasePair>(5, {1, 9})).word, "not measured");
  EXPECT_EQ(judge_phases(around(1, 1)).armed_phases, 7U);
}

TEST(Verdict, TellsHelpFromHarm) {
  EXPECT_EQ(judge_phases(around(1, 2)).word, "helped");
  EXPECT_EQ(judge_phases(around(2, 1)).word, "hurt");
  EXPECT_EQ(judge_phases(around(1, 1)).word, "neutral");
  EXPECT_EQ(judge_phases(around(1.015, 1)).word, "neutral") << "less than matters";
  EXPECT_EQ(judge_phases({{1, 2}, {9, 8}, {1, 2}, {9, 8}, {1, 2}, {9, 8}}).word, "unclear") << "noise";
  EXPECT_EQ(judge_phases({{1, 1.1}, {1.1, 1.2}, {1.2, 1.1}, {1.1, 1.3}, {1, 1.2}, {1.2, 1.1}}).word, "unclear")
      << "too few to tell 10 %";
}

TEST(Verdict, SeesInPairsWhatALongRunsDriftHides) {
  std::vector<PhasePair> pairs;
  for (int i = 0; i < 10; ++i) pairs.push_back({.armed_s = 0.95 * (1 + i), .disarmed_s = 1.0 + i});
  EXPECT_EQ(judge_phases(pairs).word, "helped");
}

// Nothing is there to be found: the words for certain come seldom, however uneven the operations are.
TEST(Verdict, IsSeldomWrongForCertain) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> time(0, 0.4);
  int wrong = 0;
  constexpr int runs = 1000;
  for (int run = 0; run < runs; ++run) {
    std::vector<PhasePair> pairs(10);
    for (auto& pair : pairs) pair = {.armed_s = time(random), .disarmed_s = 1.1 * time(random)};
    const auto word = judge_phases(pairs).word;
    wrong += word == "neutral" || word == "hurt" ? 1 : 0;
  }
  EXPECT_LT(wrong, runs / 40);
}

// What an inert engine seems to bring to a program with a rhythm of its own.
TEST(Turns, ResonateWithNoRhythm) {
  constexpr int turns = 2000;
  int armed = 0;
  for (std::uint64_t turn = 0; turn < turns; ++turn) armed += is_armed_turn(turn) ? 1 : 0;
  EXPECT_EQ(armed, turns / 2) << "one of two";
  for (int frequency = 1; frequency <= turns; ++frequency) {
    std::complex<double> sum = 0;
    for (int turn = 0; turn < turns; ++turn)
      sum += std::polar(is_armed_turn(static_cast<std::uint64_t>(turn)) ? 1.0 : -1.0,
                        std::numbers::pi * frequency * turn / turns);
    ASSERT_LT(std::abs(sum) / turns, 0.12) << "a rhythm of " << 2.0 * turns / frequency << " turns";
  }
}

TEST(PhaseMeter, TakesTheTimeAnOperation) {
  PhaseMeter meter;
  meter.change(true, 0, 0);
  Nanoseconds now = 0;
  std::uint64_t completed = 0;
  for (int i = 0; i < 12; ++i) {
    now += seconds(i % 2 ? 3 : 1);  // armed phases are the even ones
    completed += 20;
    meter.change(i % 2 == 1, now, completed);
  }
  meter.end(now, completed);
  const auto verdict = meter.verdict();
  EXPECT_EQ(verdict.word, "helped");
  EXPECT_DOUBLE_EQ(verdict.armed_s, 0.05);
  EXPECT_DOUBLE_EQ(verdict.disarmed_s, 0.15);
  EXPECT_EQ(verdict.armed_phases, 6U);
}

TEST(PhaseMeter, CountsTheTimeOfPhasesThatAreShorterThanAnOperation) {
  PhaseMeter meter;  // turns of 100 ms; an operation takes 80 ms with the engine and 150 without
  double done = 0;
  Nanoseconds now = 0;
  meter.change(is_armed_turn(0), 0, 0);
  for (std::uint64_t turn = 0; turn < 400; ++turn) {
    now += seconds(1) / 10;
    done += 100.0 / (is_armed_turn(turn) ? 80 : 150);
    meter.change(is_armed_turn(turn + 1), now, static_cast<std::uint64_t>(done));
  }
  EXPECT_EQ(meter.verdict().word, "helped");
  EXPECT_GT(meter.verdict().disarmed_s, 0.1) << "though no phase is longer than that";
}

TEST(PhaseMeter, ChangesOnlyWhereItIsAnother) {
  PhaseMeter meter;
  meter.change(true, 0, 0);
  meter.change(false, seconds(1), 40);
  meter.change(false, seconds(2), 80);
  meter.end(seconds(4), 100);
  EXPECT_EQ(meter.verdict().armed_phases, 1U);
  EXPECT_DOUBLE_EQ(meter.verdict().disarmed_s, 3.0 / 60);
}

}  // namespace
}  // namespace progress_engine
