// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/advice.hpp"

#include <gtest/gtest.h>

namespace progress_engine {
namespace {

// A run in which the engine did what it is for.
Facts good_run() {
  return {.active = true,
          .lifetime_s = 10,
          .pending_while_computing_s = 5,
          .tracked = 100,
          .productive_polls = 400,
          .wakes = 300,
          .announced = 200,
          .verdict = "not measured"};
}

bool says(const Facts& facts, const char* words) { return advice(facts).find(words) != std::string::npos; }

TEST(Advice, KeepsWhatMovedMessages) { EXPECT_TRUE(says(good_run(), "keep it")); }

TEST(Advice, IsSilentWhereTheEngineWasNot) {
  auto facts = good_run();
  facts.active = false;
  EXPECT_EQ(advice(facts), "");
}

TEST(Advice, LeavesItOffWhereNothingCanBeWon) {
  auto facts = good_run();
  facts.pending_while_computing_s = 0.05;
  EXPECT_TRUE(says(facts, "nothing that needs progress was pending while the program computed: leave it off"));
  facts.tracked = 0;
  EXPECT_TRUE(says(facts, "started no nonblocking operation: leave it off"));
}

TEST(Advice, SeesAnMpiThatProgressesByItself) {
  auto facts = good_run();
  facts.productive_polls = 1;
  EXPECT_TRUE(says(facts, "progresses by itself"));
  facts.tracked = 10;
  EXPECT_FALSE(says(facts, "progresses by itself"));
  facts.productive_polls = 0;
  EXPECT_TRUE(says(facts, "progresses by itself"));
}

TEST(Advice, NamesTheSetting) {
  auto facts = good_run();
  facts.announced = 0;
  EXPECT_FALSE(says(facts, "timer_us=500")) << "a timer waits for nothing else";
  facts.waits_for_announcements = true;
  EXPECT_TRUE(says(facts, "timer_us=500"));
  facts.disarmed_s = 6;
  EXPECT_TRUE(says(facts, "rest_us=0"));
}

TEST(Advice, CannotSayOfWindows) {
  auto facts = good_run();
  facts.pending_while_computing_s = 0;
  facts.tracked = 0;
  facts.windows = true;
  for (const bool offload : {false, true}) {
    facts.offload = offload;
    EXPECT_TRUE(says(facts, "windows"));
    EXPECT_FALSE(says(facts, "leave it off"));
  }
}

TEST(Advice, CannotSayWhereItsThreadsDidNotRun) {
  auto facts = good_run();
  facts.pending_while_computing_s = 0;
  facts.samples_rarely = true;
  EXPECT_TRUE(says(facts, "compare with the variant adaptive"));
  EXPECT_FALSE(says(facts, "leave it off"));
}

TEST(Advice, CannotSayWhereAnAdapterMovesTheData) {
  auto facts = good_run();
  facts.productive_polls = 0;
  facts.moves_unseen = true;
  EXPECT_TRUE(says(facts, "an adapter moves the data: trial_ms=100"));
  facts.productive_polls = 400;
  EXPECT_TRUE(says(facts, "keep it")) << "some were seen";
}

TEST(Advice, BelievesAMeasurementMore) {
  auto facts = good_run();
  facts.verdict = "hurt";
  EXPECT_TRUE(says(facts, "slowed this program down: leave it off"));
  facts.pending_while_computing_s = 0;
  facts.verdict = "helped";
  EXPECT_TRUE(says(facts, "keep it"));
}

TEST(Advice, OfOffload) {
  auto facts = good_run();
  facts.offload = true;
  EXPECT_TRUE(says(facts, "compare with the variant adaptive"));
  facts.pending_while_computing_s = 0;
  EXPECT_TRUE(says(facts, "only if threads communicate at once"));
}

}  // namespace
}  // namespace progress_engine
