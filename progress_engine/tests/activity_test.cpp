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
