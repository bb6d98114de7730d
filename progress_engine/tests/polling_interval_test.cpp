// SPDX-License-Identifier: BSD-3-Clause
#include "core/polling_interval.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace progress_engine {
namespace {

constexpr Nanoseconds minimum = microseconds(100);
constexpr Nanoseconds start = microseconds(500);
constexpr Nanoseconds maximum = microseconds(4000);

// A network that fills wakes in proportion to the time between them.
Nanoseconds settle(PollingInterval& distance, double busy_share) {
  for (int i = 0; i < 100; ++i) {
    const auto moved = static_cast<Nanoseconds>(busy_share * static_cast<double>(distance.current()));
    distance.after_wake({.productive_time = moved, .idle_time = microseconds(2)});
  }
  return distance.current();
}

TEST(PollingInterval, BeginsShortAndStaysInItsBounds) {
  PollingInterval distance(minimum, start, maximum);
  EXPECT_EQ(distance.current(), start);
  EXPECT_EQ(settle(distance, 0.00001), start);  // too little moved to learn from
  EXPECT_EQ(settle(distance, 0.06), maximum);
  for (int i = 0; i < 50; ++i) distance.after_wake({.late = true});
  EXPECT_EQ(distance.current(), minimum);
  distance.reset();
  EXPECT_EQ(distance.current(), start);
}

TEST(PollingInterval, IsShorterOnAFasterNetwork) {
  PollingInterval slow(minimum, start, maximum);
  PollingInterval fast(minimum, start, maximum);
  EXPECT_GT(settle(slow, 0.1), 2 * settle(fast, 0.5));
}

TEST(PollingInterval, SettlesWhereAWakeIsWorthItsPrice) {
  PollingInterval distance(minimum, start, maximum);
  const double share = 0.2;
  const double moved = share * static_cast<double>(settle(distance, share));
  EXPECT_NEAR(moved, 16.0 * 22000, 0.2 * 16 * 22000);  // price: 20 us of sleep and wake + 2 us of idle polls
}

TEST(PollingInterval, HalvesWhenItCameLate) {
  PollingInterval distance(minimum, start, maximum);
  settle(distance, 0.06);
  distance.after_wake({.productive_time = microseconds(10), .late = true});
  EXPECT_EQ(distance.current(), maximum / 2);
}

TEST(PollingInterval, GrowsWithDataThatTakesNoTime) {
  PollingInterval interval(microseconds(50), microseconds(500), microseconds(16'000));
  interval.after_wake({.productive_time = microseconds(1)});
  EXPECT_EQ(interval.current(), microseconds(500)) << "a control message";
  interval.after_wake({.productive_time = 0, .bulk = true});
  EXPECT_EQ(interval.current(), microseconds(750));
}

TEST(PollingInterval, IsAShareOfTheTimeThatAMessageTakes) {
  PollingInterval distance(minimum, start, maximum);
  EXPECT_EQ(distance.since(microseconds(300'000)), start);
  settle(distance, 0.06);
  EXPECT_EQ(distance.since(0), 2 * start);
  EXPECT_EQ(distance.since(microseconds(32'000)), microseconds(2000));
  EXPECT_EQ(distance.since(microseconds(300'000)), maximum);
}

// A sleeping program pays for what is found late, so that it is a sixteenth of the message's time at most.
TEST(PollingInterval, IsAShareOfTheTimeThatSomebodySleepsFor) {
  PollingInterval distance(minimum, start, maximum);
  settle(distance, 0.06);
  EXPECT_EQ(distance.shortened_for_a_sleeper(0), minimum);
  EXPECT_EQ(distance.shortened_for_a_sleeper(microseconds(16000)), microseconds(1000));
  EXPECT_EQ(distance.shortened_for_a_sleeper(microseconds(300'000)), maximum);
}

// What a shorter interval moved is held against that time: the rate is the same, and so is the interval that it needs.
TEST(PollingInterval, LearnsTheSameFromAShorterOne) {
  PollingInterval usual(minimum, start, maximum);
  PollingInterval shortened(minimum, start, maximum);
  const auto wanted = settle(usual, 0.2);
  for (int i = 0; i < 100; ++i) {
    const auto rest = shortened.shortened_for_a_sleeper(microseconds(5000));
    shortened.after_wake({.productive_time = rest / 5, .idle_time = microseconds(2)});
  }
  EXPECT_NEAR(static_cast<double>(shortened.current()), static_cast<double>(wanted),
              0.05 * static_cast<double>(wanted));
}

// Its start serves a handshake; the first wake that moves data finds the distance where the last busy period left it.
TEST(PollingInterval, RemembersWhatTheLastBusyPeriodLearnt) {
  PollingInterval distance(minimum, start, maximum);
  settle(distance, 0.06);
  distance.reset();
  EXPECT_EQ(distance.current(), start);
  distance.after_wake({.idle_time = microseconds(2)});
  EXPECT_EQ(distance.current(), start);
  distance.after_wake({.productive_time = microseconds(30), .idle_time = microseconds(2)});
  EXPECT_GT(distance.current(), start * 3 / 2);
}

// Near what happened last an answer is likely; a long message's end is found late by a share of its time at most.
TEST(UnannouncedInterval, GrowsWithTheTimeSinceTheLastEvent) {
  UnannouncedInterval interval(minimum, start, maximum);
  interval.event(0);
  Nanoseconds time = 0;
  Nanoseconds longest = 0;
  int polls = 0;
  while (time < microseconds(100'000)) {
    const Nanoseconds next = interval.next(time);
    EXPECT_LE(next, std::max(start, time / 4));
    EXPECT_GE(next, minimum);
    EXPECT_GE(next, longest);
    longest = next;
    time += next;
    ++polls;
  }
  EXPECT_EQ(longest, maximum);
  EXPECT_LT(polls, 50);
  interval.event(time);
  EXPECT_EQ(interval.next(time), minimum);
  EXPECT_EQ(interval.next(time + minimum), 2 * minimum);
}

// ---- where the network moves the data itself: a made-up clock, and a wake that takes the program's core for 25 us

constexpr Nanoseconds wake_takes = microseconds(25);
constexpr Nanoseconds least = microseconds(20);

struct Followed {
  int wakes = 0;
  int steps = 0;
  Nanoseconds time = 0;
};

// A collective operation's rounds: each begins with the poll that ends the one before.
Followed follow_rounds(RoundsInterval& interval, Nanoseconds round, int wakes) {
  Followed all;
  for (Nanoseconds before = 0; all.wakes < wakes; ++all.wakes) {
    const Nanoseconds rest = interval.rest(start, least);
    const Nanoseconds looks = before + std::max(rest, round);
    interval.after_wake({.steps = 2, .since = looks + wake_takes - before, .awaited = round > rest + least / 2});
    before = looks + wake_takes;
    all.steps += 2;
    all.time = before;
  }
  return all;
}

// Messages that come one after the other, whoever looks.
Followed follow_stream(RoundsInterval& interval, Nanoseconds apart, int wakes) {
  Followed all;
  Nanoseconds before = 0;
  for (Nanoseconds arrived = 0; all.wakes < wakes; ++all.wakes) {
    const Nanoseconds rested = before + interval.rest(start, least);
    const Nanoseconds looks = std::max(rested, arrived + apart);
    const auto found = (looks - arrived) / apart;
    arrived += found * apart;
    interval.after_wake({.steps = static_cast<std::uint64_t>(found),
                         .since = looks + wake_takes - before,
                         .awaited = looks > rested + least / 2});
    before = looks + wake_takes;
    all.steps += static_cast<int>(found);
    all.time = before;
  }
  return all;
}

TEST(RoundsInterval, FollowsRoundsThatTakeLongerThanAWake) {
  RoundsInterval interval;
  EXPECT_EQ(interval.rest(start, least), start) << "until it knows";
  follow_rounds(interval, microseconds(60), 10);
  const auto followed = follow_rounds(interval, microseconds(60), 1000);
  // 85 us a round; some longer rests look whether they are rounds still.
  EXPECT_LT(followed.time / followed.wakes, microseconds(100));
}

TEST(RoundsInterval, LeavesRoundsAloneThatAWakeDoesNotPayFor) {
  RoundsInterval interval;
  const auto followed = follow_rounds(interval, microseconds(10), 1000);
  EXPECT_GT(followed.time / followed.wakes, (start + wake_takes) * 98 / 100);
}

TEST(RoundsInterval, LeavesAStreamOfMessagesAlone) {
  for (const Nanoseconds apart : {microseconds(5), microseconds(40), microseconds(100), microseconds(250)}) {
    RoundsInterval interval;
    const auto followed = follow_stream(interval, apart, 1000);
    EXPECT_GT(followed.time / followed.wakes, start * 97 / 100) << apart;
  }
}

TEST(RoundsInterval, FindsOutWhenTheOneFollowsTheOther) {
  RoundsInterval interval;
  for (int i = 0; i < 3; ++i) {
    follow_rounds(interval, microseconds(60), 600);
    const auto rounds = follow_rounds(interval, microseconds(60), 100);
    EXPECT_LT(rounds.time / rounds.wakes, microseconds(110));
    follow_stream(interval, microseconds(40), 100);
    const auto stream = follow_stream(interval, microseconds(40), 100);
    EXPECT_GT(stream.time / stream.wakes, start * 9 / 10);
  }
}

// A wake that found nothing, as the timer's, says nothing about either.
TEST(RoundsInterval, LearnsNothingFromAWakeWithoutSteps) {
  RoundsInterval interval;
  for (int i = 0; i < 100; ++i) interval.after_wake({.steps = 0, .since = start, .awaited = true});
  EXPECT_EQ(interval.rest(start, least), start);
  EXPECT_EQ(std::as_const(interval).rest(microseconds(5), least), microseconds(5));
}

TEST(PollingInterval, KeepsItsBoundsWhenTheyAreEqual) {
  PollingInterval distance(maximum, start, maximum);
  EXPECT_EQ(distance.current(), maximum);
  distance.after_wake({.late = true});
  EXPECT_EQ(distance.current(), maximum);
}

}  // namespace
}  // namespace progress_engine
