// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <deque>

#include "core/event_loop.hpp"
#include "core/progress.hpp"

namespace progress_engine {
namespace {

constexpr Nanoseconds first = microseconds(10'000);
constexpr Nanoseconds longest = microseconds(160'000);
constexpr Nanoseconds much = microseconds(500);
constexpr Nanoseconds little = microseconds(10);

void busy_periods(Arming& arming, int count, Nanoseconds gained, Nanoseconds taken) {
  for (int i = 0; i < count; ++i) arming.settle(gained, taken);
}

TEST(Arming, StaysArmedWhileBusyPeriodsPay) {
  Arming arming(first, longest);
  busy_periods(arming, 1000, much, little);
  EXPECT_TRUE(arming.armed());
}

TEST(Arming, DisarmsAfterManyBusyPeriodsThatDoNotPay) {
  Arming arming(first, longest);
  busy_periods(arming, 50, 0, little);
  EXPECT_TRUE(arming.armed());
  busy_periods(arming, 1, 0, little);
  EXPECT_FALSE(arming.armed());
}

// Many small exchanges that the program waits for at once, and now and then a message that is worth it.
TEST(Arming, OneBusyPeriodThatPaysMakesUpForMany) {
  Arming arming(first, longest);
  for (int i = 0; i < 1000; ++i) {
    busy_periods(arming, 1, much, little);
    busy_periods(arming, 20, 0, little);
    EXPECT_TRUE(arming.armed());
  }
}

TEST(Arming, ForgetsAGoodPast) {
  Arming arming(first, longest);
  busy_periods(arming, 100'000, much, little);
  busy_periods(arming, 1000, 0, little);
  EXPECT_FALSE(arming.armed());
}

TEST(Arming, RestsEverLongerWhileTriesGainNothing) {
  Arming arming(first, longest);
  busy_periods(arming, 51, 0, little);
  EXPECT_EQ(arming.backoff(), first);
  for (int i = 0; i < 10; ++i) {
    arming.backoff_ended();
    EXPECT_TRUE(arming.armed());
    busy_periods(arming, 51, 0, little);
    EXPECT_FALSE(arming.armed());
  }
  EXPECT_EQ(arming.backoff(), longest);
}

// The try's first busy period may be one of those that gain nothing.
TEST(Arming, ATryIsMoreThanOneBusyPeriod) {
  Arming arming(first, longest);
  busy_periods(arming, 51, 0, little);
  arming.backoff_ended();
  busy_periods(arming, 1, 0, 10 * little);
  EXPECT_TRUE(arming.armed());
  busy_periods(arming, 4, much, little);
  EXPECT_TRUE(arming.armed());
  EXPECT_EQ(arming.backoff(), first);
}

// The account was wrong: the same debt does not disarm it again, until nothing is missed any more.
TEST(Arming, BearsMoreAfterItHasMissedSomething) {
  Arming arming(first, longest);
  busy_periods(arming, 51, 0, little);
  arming.backoff_ended(true);
  EXPECT_EQ(arming.backoff(), first);
  busy_periods(arming, 200, 0, little);
  EXPECT_TRUE(arming.armed());
  busy_periods(arming, 1, 0, little);
  EXPECT_FALSE(arming.armed());
  for (int i = 0; i < 2; ++i) {
    arming.backoff_ended();
    busy_periods(arming, 201, 0, little);
  }
  arming.backoff_ended();
  busy_periods(arming, 51, 0, little);
  EXPECT_FALSE(arming.armed());
}

TEST(Arming, BearsNotEverything) {
  Arming arming(first, longest);
  for (int i = 0; i < 100; ++i) {
    for (int periods = 0; arming.armed(); ++periods) {
      ASSERT_LT(periods, 100'000);
      busy_periods(arming, 1, 0, little);
    }
    arming.backoff_ended(true);
  }
}

// Moves something in the polls that its script says. Time passes in its polls alone: on a real clock a preempted poll
// looks productive.
class ScriptedProgress : public ProgressFunction {
 public:
  explicit ScriptedProgress(std::deque<bool> moves) : moves_(std::move(moves)) {}
  void poll() override {
    ++polls;
    const bool moves = !moves_.empty() && moves_.front();
    if (!moves_.empty()) moves_.pop_front();
    time += moves ? microseconds(200) : 100;
  }
  int polls = 0;
  Nanoseconds time = 0;

 private:
  std::deque<bool> moves_;
};

PollJudge experienced_judge() {
  PollJudge judge;
  for (int i = 0; i < 10; ++i) judge.productive(100);
  return judge;
}

bool always() { return true; }

TEST(PollJudge, CallsLongPollsProductiveOnceItHasSeenShortOnes) {
  PollJudge judge;
  EXPECT_FALSE(judge.productive(300));
  EXPECT_FALSE(judge.productive(350));
  EXPECT_TRUE(judge.productive(20000));
  EXPECT_FALSE(judge.productive(400));
}

TEST(PollJudge, AllowsABurstsFirstPollForColdCaches) {
  PollJudge judge = experienced_judge();
  EXPECT_TRUE(judge.productive(5000));
  EXPECT_FALSE(judge.productive(5000, true));
  EXPECT_TRUE(judge.productive(20000, true));
}

// Open MPI's poll looks at the sockets only while a transfer is on: each then takes longer, and moves nothing.
TEST(PollJudge, GetsUsedToPollsThatBecameSlow) {
  PollJudge judge = experienced_judge();
  int productive = 0;
  for (int i = 0; i < 1000; ++i) productive += judge.productive(5000) ? 1 : 0;
  EXPECT_GT(productive, 0);
  EXPECT_LT(productive, 100);
}

TEST(Burst, EndsAfterSoManyIdlePollsInARow) {
  auto judge = experienced_judge();
  ScriptedProgress progress({true, false, true, false, false, false});
  const auto result = run_burst(progress, judge, 3, always, [&] { return progress.time; });
  EXPECT_EQ(result.polls, 6U);
  EXPECT_EQ(result.productive, 2U);
  EXPECT_EQ(result.productive_time, microseconds(400));
}

TEST(Burst, EndsBetweenPollsWhenItMayNotGoOn) {
  auto judge = experienced_judge();
  ScriptedProgress progress(std::deque<bool>(100, true));
  int allowed = 4;
  const auto result = run_burst(progress, judge, 3, [&] { return allowed-- > 0; }, [&] { return progress.time; });
  EXPECT_EQ(result.polls, 4U);
}

// Polls of a fabric's library that take no time, and say what they moved.
class SteppingProgress : public ProgressFunction {
 public:
  explicit SteppingProgress(std::deque<unsigned> steps, unsigned then) : steps_(std::move(steps)), then_(then) {}
  void poll() override {
    fabric_steps += steps_.empty() ? then_ : steps_.front();
    if (!steps_.empty()) steps_.pop_front();
  }

 private:
  std::deque<unsigned> steps_;
  unsigned then_;
};

TEST(Burst, BelievesAFabricsLibraryWhatNoClockTells) {
  auto judge = experienced_judge();
  SteppingProgress progress({2, 0, 1}, 0);
  const auto result = run_burst(progress, judge, 4, always, [] { return Nanoseconds{0}; });
  EXPECT_EQ(result.polls, 4U) << "how long a burst goes on is the clock's to say";
  EXPECT_EQ(result.productive, 2U);
  EXPECT_EQ(result.steps, 3U);
  EXPECT_EQ(result.productive_time, 0);
}

TEST(Burst, DoesNotBelieveALibraryThatSaysSoOfEachPoll) {
  auto judge = experienced_judge();
  SteppingProgress progress({}, 1);
  const auto result = run_burst(progress, judge, 3, always, [] { return Nanoseconds{0}; });
  EXPECT_EQ(result.productive, 0U);
  EXPECT_EQ(result.steps, 0U);
}

TEST(Burst, DoesNotPollAtAllWhenItMayNot) {
  PollJudge judge;
  ScriptedProgress progress({});
  run_burst(progress, judge, 3, [] { return false; });
  EXPECT_EQ(progress.polls, 0);
}

}  // namespace
}  // namespace progress_engine
