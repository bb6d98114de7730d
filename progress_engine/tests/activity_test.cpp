// SPDX-License-Identifier: BSD-3-Clause
#include "core/activity.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace progress_engine {
namespace {

TEST(Activity, SumsOverThreadsOfWhichOneStartsAndAnotherCompletes) {
  Activity activity;
  ThreadSlot& starter = activity.acquire();
  ThreadSlot& finisher = activity.acquire();
  add(starter.started, 5);
  add(finisher.completed, 2);
  EXPECT_EQ(activity.pending(), 3);
  EXPECT_EQ(activity.started(), 5U);
  add(finisher.completed, 3);
  EXPECT_EQ(activity.pending(), 0);
}

constexpr std::int64_t limit = 8000;

TEST(Activity, SmallMessagesNeedNoProgressUpToALimitForAll) {
  Activity activity;
  ThreadSlot& slot = activity.acquire();
  EXPECT_FALSE(activity.needs_progress(limit));
  Activity::note_start(slot, 2, limit);
  EXPECT_EQ(activity.pending(), 2);
  EXPECT_FALSE(activity.needs_progress(limit));
  EXPECT_TRUE(activity.needs_progress(0)) << "no limit: each message";
  Activity::note_start(activity.acquire(), 1, 1);
  EXPECT_TRUE(activity.needs_progress(limit)) << "a burst, of two threads together";
}

TEST(Activity, WhatIsNoSmallMessageNeedsProgressBesideThose) {
  Activity activity;
  ThreadSlot& slot = activity.acquire();
  Activity::note_start(slot, 1, 100);
  Activity::note_start(slot, 1, Activity::unbounded);
  EXPECT_TRUE(activity.needs_progress(limit));
  add(slot.completed, 1);
  EXPECT_TRUE(activity.needs_progress(limit)) << "it may have been the small one";
}

// Else they would be polled for never, and hide as many others for the rest of the run.
TEST(Activity, OperationsThatStartedUnseenHideNoOthers) {
  for (const int threads : {1, 2}) {
    Activity activity;
    ThreadSlot& slot = activity.acquire();
    if (threads == 2) Activity::release(activity.acquire());
    activity.note_completion(slot, 3);
    EXPECT_EQ(activity.pending(), 0);
    for (int round = 0; round < 3; ++round) {
      Activity::note_start(slot, 1, Activity::unbounded);
      EXPECT_EQ(activity.pending(), 1);
      EXPECT_TRUE(activity.needs_progress(limit));
      activity.note_completion(slot, 2);
      EXPECT_EQ(activity.pending(), 0);
      EXPECT_FALSE(activity.needs_progress(limit));
    }
  }
}

// Thousands of phases, one after the other: what has completed weighs nothing.
TEST(Activity, WeightsEndWhenNothingIsPending) {
  Activity activity;
  ThreadSlot& slot = activity.acquire();
  for (int phase = 0; phase < 3000; ++phase) {
    const bool large = phase % 3 == 0;
    Activity::note_start(slot, 1, large ? Activity::unbounded : limit);
    ASSERT_EQ(activity.needs_progress(limit), large) << phase;
    add(slot.completed, 1);
    ASSERT_FALSE(activity.needs_progress(limit)) << phase;
  }
}

// A phase whose end nobody saw costs needless polls until another one's end was seen, and no more.
TEST(Activity, AnEndThatNobodySawIsMadeUpFor) {
  Activity activity;
  ThreadSlot& slot = activity.acquire();
  Activity::note_start(slot, 1, Activity::unbounded);
  add(slot.completed, 1);
  Activity::note_start(slot, 1, 100);
  EXPECT_TRUE(activity.needs_progress(limit));
  add(slot.completed, 1);
  EXPECT_FALSE(activity.needs_progress(limit));
  Activity::note_start(slot, 1, 100);
  EXPECT_FALSE(activity.needs_progress(limit));
}

// While the engine's thread waits for traffic nobody else looks: phases would add up, and it would be woken for ever.
TEST(Activity, AThreadAloneFindsTheEndsOfItsPhases) {
  Activity activity;
  ThreadSlot& slot = activity.acquire();
  for (int phase = 0; phase < 3; ++phase) {
    Activity::note_start(slot, 1, limit);
    activity.note_completion(slot, 1);
  }
  Activity::note_start(slot, 1, limit);
  EXPECT_FALSE(activity.needs_progress(limit));
  Activity::note_start(slot, 1, Activity::unbounded);
  EXPECT_TRUE(activity.needs_progress(limit));
}

// Of two threads one may have completed as many as it started, and its own large one is still under way.
TEST(Activity, AThreadAmongOthersDoesNot) {
  Activity activity;
  ThreadSlot& one = activity.acquire();
  ThreadSlot& other = activity.acquire();
  Activity::note_start(one, 1, Activity::unbounded);
  Activity::note_start(other, 1, 1);
  activity.note_completion(one, 1);  // the other's
  EXPECT_TRUE(activity.needs_progress(limit));
}

// What each call asks while the engine's thread is parked: less, but never "no" where the engine would say "yes".
TEST(Activity, AThreadAloneNeedNotAskTheEngineForSmallMessages) {
  Activity activity;
  ThreadSlot& slot = activity.acquire();
  for (int phase = 0; phase < 3; ++phase) {
    EXPECT_FALSE(activity.may_need_progress(slot, limit));
    EXPECT_TRUE(activity.may_need_progress(slot, 0)) << "no limit: each message";
    Activity::note_start(slot, 1, limit);
    EXPECT_FALSE(activity.may_need_progress(slot, limit));
    Activity::note_start(slot, 1, phase == 1 ? Activity::unbounded : 1);
    EXPECT_TRUE(activity.may_need_progress(slot, limit));
    activity.note_completion(slot, 2);
  }
}

TEST(Activity, ItAsksForThoseWhoSleepAndForOtherThreads) {
  Activity activity;
  const ThreadSlot& slot = activity.acquire();
  activity.add_progress_user();
  EXPECT_TRUE(activity.may_need_progress(slot, limit));
  activity.remove_progress_user();
  EXPECT_FALSE(activity.may_need_progress(slot, limit));
  activity.acquire(Owner::engine);
  EXPECT_FALSE(activity.may_need_progress(slot, limit)) << "that one starts nothing";
  Activity::note_start(activity.acquire(), 1, Activity::unbounded);
  EXPECT_TRUE(activity.may_need_progress(slot, limit));
}

// Beside threads that start and complete small messages, one large one is never overlooked.
TEST(Activity, ALargeMessageIsSeenWhileThreadsStartAndCompleteSmallOnes) {
  Activity activity;
  ThreadSlot& own = activity.acquire();
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      ThreadSlot& slot = activity.acquire();
      while (!stop) {
        Activity::note_start(slot, 1, 1);
        add(slot.completed, 1);
        static_cast<void>(activity.needs_progress(limit));
      }
      Activity::release(slot);
    });
  for (int i = 0; i < 20000; ++i) {
    Activity::note_start(own, 1, Activity::unbounded);
    ASSERT_TRUE(activity.needs_progress(limit)) << i;
    add(own.completed, 1);
  }
  stop = true;
}

TEST(Activity, SomeoneIsInsideAsLongAsOneThreadIs) {
  Activity activity;
  ThreadSlot& first = activity.acquire();
  ThreadSlot& second = activity.acquire();
  EXPECT_FALSE(activity.anyone_inside());
  first.depth = 1;
  second.depth = 2;
  first.depth = 0;
  EXPECT_TRUE(activity.anyone_inside());
  second.change_depth(ThreadSlot::outside);
  EXPECT_FALSE(activity.anyone_inside()) << "it sleeps in its call";
  EXPECT_TRUE(activity.anyone_in_call());
  second.change_depth(-ThreadSlot::outside);
  EXPECT_TRUE(activity.anyone_inside());
  second.depth = 0;
  EXPECT_FALSE(activity.anyone_inside());
  first.change_depth(ThreadSlot::outside);
  EXPECT_FALSE(activity.anyone_in_call()) << "a thread of the engine's that polls";
}

TEST(Activity, AnEndedThreadsSlotIsUsedAgainAndItsCountsStay) {
  Activity activity;
  ThreadSlot& slot = activity.acquire();
  add(slot.started, 3);
  slot.depth = 1;  // it ended in a callback
  Activity::release(slot);
  EXPECT_FALSE(activity.anyone_inside());
  ThreadSlot& again = activity.acquire();
  EXPECT_EQ(&again, &slot);
  EXPECT_EQ(activity.pending(), 3);
  EXPECT_NE(&activity.acquire(), &slot);
}

TEST(Activity, PendingIsNeverNegativeWhileThreadsStartAndComplete) {
  Activity activity;
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      ThreadSlot& slot = activity.acquire();
      while (!stop) {
        add(slot.started, 1);
        add(slot.completed, 1);
      }
      Activity::release(slot);
    });
  for (int i = 0; i < 20000; ++i) ASSERT_GE(activity.pending(), 0);
  stop = true;
  threads.clear();
  EXPECT_EQ(activity.pending(), 0);
}

}  // namespace
}  // namespace progress_engine
