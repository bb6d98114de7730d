// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/phases.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>

namespace progress_engine {
namespace {

std::vector<double> around(double time) { return {time * 0.99, time, time * 1.01, time * 1.005, time * 0.995, time}; }

TEST(Verdict, IsMeasuredOrNotGiven) {
  EXPECT_EQ(judge_phases({}, {}).word, "not measured");
  EXPECT_EQ(judge_phases(around(1), {}).word, "not measured");
  EXPECT_EQ(judge_phases({1, 1, 1, 1}, {9, 9, 9, 9}).word, "not measured");
  EXPECT_EQ(judge_phases(around(1), {}).armed_phases, 6U);
}

TEST(Verdict, TellsHelpFromHarm) {
  EXPECT_EQ(judge_phases(around(1), around(2)).word, "helped");
  EXPECT_EQ(judge_phases(around(2), around(1)).word, "hurt");
  EXPECT_EQ(judge_phases(around(1), around(1)).word, "neutral");
  EXPECT_EQ(judge_phases(around(1.015), around(1)).word, "neutral");                // less than matters
  EXPECT_EQ(judge_phases({1, 9, 1, 9, 1, 9}, {2, 8, 2, 8, 2, 8}).word, "unclear");  // noise
  EXPECT_EQ(judge_phases({1, 1.1, 1.2, 1.1, 1}, {1.1, 1.2, 1.3, 1.1, 1.2}).word, "unclear") << "too few to tell 10 %";
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
    completed += 2;
    meter.change(i % 2 == 1, now, completed);
  }
  meter.end(now, completed);
  const auto verdict = meter.verdict();
  EXPECT_EQ(verdict.word, "helped");
  EXPECT_DOUBLE_EQ(verdict.armed_s, 0.5);
  EXPECT_DOUBLE_EQ(verdict.disarmed_s, 1.5);
  EXPECT_EQ(verdict.armed_phases, 6U);
}

TEST(PhaseMeter, LeavesOutPhasesWithoutOperations) {
  PhaseMeter meter;
  meter.change(true, 0, 0);
  meter.change(false, seconds(1), 0);
  meter.change(false, seconds(2), 4);  // no change
  meter.end(seconds(4), 8);
  EXPECT_EQ(meter.verdict().armed_phases, 0U);
  EXPECT_EQ(meter.verdict().disarmed_phases, 1U);
  EXPECT_DOUBLE_EQ(meter.verdict().disarmed_s, 3.0 / 8);
}

}  // namespace
}  // namespace progress_engine
