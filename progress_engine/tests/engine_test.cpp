// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine.hpp"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "eventually.hpp"
#include "platform/scheduling.hpp"
#include "stand_ins.hpp"

namespace progress_engine {
namespace {

void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

std::size_t entries(const char* directory) {
  std::size_t count = 0;
  DIR* handle = opendir(directory);
  while (readdir(handle)) ++count;
  closedir(handle);
  return count;
}

std::uint64_t wakes_of(const Engine& engine) { return engine.workers().front()->wakes; }

TEST(Engine, PresetsThatPollAlwaysDo) {
  for (const char* preset : {"thread", "timer", "idle"}) {
    std::atomic<int> polls{0};
    auto engine = make_engine(preset, polls);
    engine->start();
    EXPECT_TRUE(eventually([&] { return polls > 3; })) << preset;
    EXPECT_TRUE(engine->stop(patience));
  }
}

TEST(Engine, AdaptiveIsParkedAndSilentWhileNothingIsPending) {
  std::atomic<int> polls{0};
  auto engine = make_engine("adaptive", polls);
  engine->start();
  ASSERT_TRUE(eventually([&] { return engine->workers().front()->parks == 1; }));
  const auto wakes = wakes_of(*engine);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(wakes_of(*engine), wakes);
  EXPECT_EQ(polls, 0);
  EXPECT_TRUE(engine->stop(patience));
}

TEST(Engine, AParkThatNobodyEndsIsTheTimersAndAStopIsNoWake) {
  std::atomic<int> polls{0};
  Policy policy = make_policy(resolve_values("adaptive", {{"rest_us", "0"}}));  // who backs off is woken by that, too
  policy.park_s = 1;
  auto engine = std::make_unique<Engine>(policy, std::make_unique<CountingProgress>(polls), nullptr);
  engine->start();
  auto& worker = *engine->workers().front();
  EXPECT_TRUE(eventually([&] { return worker.parks >= 2; }));
  EXPECT_TRUE(engine->stop(patience));
  EXPECT_EQ(worker.wake_sources[static_cast<std::size_t>(WakeSource::call)], 0U);
  EXPECT_EQ(worker.wake_sources[static_cast<std::size_t>(WakeSource::timer)], worker.parks - 1);
}

TEST(Engine, AdaptiveWakesForAPendingOperationAndParksAfterIt) {
  std::atomic<int> polls{0};
  auto engine = make_engine("adaptive", polls);
  engine->start();
  auto& worker = *engine->workers().front();
  ASSERT_TRUE(eventually([&] { return worker.parks == 1; }));
  ThreadSlot& slot = engine->activity().acquire();
  Activity::note_start(slot, 1, Activity::unbounded);
  engine->after_call(slot);
  EXPECT_TRUE(eventually([&] { return polls > 3; }));
  add(slot.completed, 1);
  EXPECT_TRUE(eventually([&] { return worker.parks == 2; }));
  const int before = polls;
  settle();
  EXPECT_EQ(polls, before);
  EXPECT_TRUE(engine->stop(patience));
}

TEST(Engine, AdaptiveStaysParkedWhileOnlySmallMessagesArePending) {
  std::atomic<int> polls{0};
  auto engine = make_engine("adaptive", polls);
  engine->start();
  ASSERT_TRUE(eventually([&] { return engine->workers().front()->parks == 1; }));
  const auto wakes = wakes_of(*engine);
  ThreadSlot& slot = engine->activity().acquire();
  for (int i = 0; i < 8; ++i) Activity::note_start(slot, 1, 16384);
  engine->after_call(slot);
  settle();
  EXPECT_EQ(wakes_of(*engine), wakes);
  EXPECT_EQ(polls, 0);
  Activity::note_start(slot, 1, 1);
  engine->after_call(slot);
  EXPECT_TRUE(eventually([&] { return polls > 0; })) << "more than the network takes by itself";
  EXPECT_TRUE(engine->stop(patience));
}

// Operations in quick succession, between which the engine parks: it naps, and the program's other CPUs are left alone.
TEST(Engine, AdaptiveNapsWhereItIsRungSoon) {
  std::atomic<int> polls{0};
  auto engine =
      make_engine("adaptive", polls, {{"rest_us", "0"}, {"start_distance_us", "10"}, {"min_distance_us", "1"}});
  engine->start();
  auto& worker = *engine->workers().front();
  ThreadSlot& slot = engine->activity().acquire();
  constexpr std::uint64_t naps = 10;  // parks without a fence; that of the present one may come yet
  std::uint64_t operations = 0;
  const auto napped = [&] {
    const std::uint64_t fences = worker.fences;  // read first
    return worker.parks - fences > naps;
  };
  for (const Nanoseconds end = now() + patience; !napped() && now() < end;) {
    while (worker.parks <= operations && now() < end) std::this_thread::yield();
    ++operations;
    Activity::note_start(slot, 1, Activity::unbounded);
    engine->after_call(slot);
    const int before = polls;
    while (polls == before && now() < end) std::this_thread::yield();
    add(slot.completed, 1);
  }
  EXPECT_TRUE(napped()) << operations << " operations, " << worker.fences << " fences";
  EXPECT_TRUE(engine->stop(patience));
}

// Who is rung rarely parks for long at once: a nap before each would only wake it for nothing.
TEST(Engine, AdaptiveDoesNotNapWhereItIsRungRarely) {
  std::atomic<int> polls{0};
  auto engine = make_engine("adaptive", polls);
  engine->start();
  auto& worker = *engine->workers().front();
  ASSERT_TRUE(eventually([&] { return worker.parks == 1; }));
  ThreadSlot& slot = engine->activity().acquire();
  for (std::uint64_t operations = 1; operations <= 5; ++operations) {
    ASSERT_TRUE(eventually([&] { return asleep(worker.tid); }));
    settle();
    const int before = polls;
    Activity::note_start(slot, 1, Activity::unbounded);
    engine->after_call(slot);
    ASSERT_TRUE(eventually([&] { return polls > before; }));
    add(slot.completed, 1);
    ASSERT_TRUE(eventually([&] { return worker.parks > operations; }));
  }
  EXPECT_TRUE(eventually([&] { return worker.fences == worker.parks; }));
  EXPECT_TRUE(engine->stop(patience));
}

TEST(Engine, AdaptiveSuspendsPollingWhileAThreadIsInside) {
  std::atomic<int> polls{0};
  auto engine = make_engine("adaptive", polls);
  ThreadSlot& slot = engine->activity().acquire();
  Activity::note_start(slot, 1, Activity::unbounded);
  slot.depth = 1;
  engine->start();
  settle();
  EXPECT_EQ(polls, 0);
  slot.depth = 0;
  engine->after_call(slot);
  EXPECT_TRUE(eventually([&] { return polls > 0; }));
  EXPECT_TRUE(engine->stop(patience));
}

TEST(Engine, APauseEndsPollingAndResumeBringsItBack) {
  std::atomic<int> polls{0};
  auto engine = make_engine("timer", polls, {{"timer_us", "100"}});
  engine->start();
  ASSERT_TRUE(eventually([&] { return polls > 0; }));
  engine->pause();
  engine->begin_exclusive();  // the poll that has begun ends
  engine->end_exclusive();
  const int before = polls;
  settle();
  EXPECT_EQ(polls, before);
  engine->resume();
  EXPECT_TRUE(eventually([&] { return polls > before; }));
  EXPECT_TRUE(engine->stop(patience));
}

// What there is to win is the time in which the program computes.
TEST(Engine, AThreadThatSleepsInItsCallDoesNotComputeBesideWhatIsPending) {
  std::atomic<int> polls{0};
  auto engine = make_engine("timer", polls);
  engine->start();
  const Worker& worker = *engine->workers().front();
  ThreadSlot& slot = engine->activity().acquire();
  slot.depth = 1 + ThreadSlot::outside;
  Activity::note_start(slot, 1, Activity::unbounded);
  const auto wakes = wakes_of(*engine);
  ASSERT_TRUE(eventually([&] { return wakes_of(*engine) >= wakes + 4; }));
  EXPECT_EQ(worker.beside, 0);
  slot.depth = 0;
  EXPECT_TRUE(eventually([&] { return worker.beside > 0; }));
  EXPECT_TRUE(engine->stop(patience));
}

TEST(Engine, NobodyPollsWhileACallHoldsIt) {
  std::atomic<int> polls{0};
  auto engine = make_engine("thread", polls);
  engine->start();
  ASSERT_TRUE(eventually([&] { return polls > 0; }));
  engine->begin_exclusive();
  const int before = polls;
  settle();
  EXPECT_EQ(polls, before);
  engine->end_exclusive();
  EXPECT_TRUE(eventually([&] { return polls > before; }));
  EXPECT_TRUE(engine->stop(patience));
}

TEST(Engine, ExplicitPollsInCallsAndHasNoThreads) {
  std::atomic<int> polls{0};
  auto engine = make_engine("explicit", polls);
  engine->start();
  EXPECT_TRUE(engine->workers().empty());
  ThreadSlot& slot = engine->activity().acquire();
  engine->after_call(slot);
  EXPECT_EQ(polls, 0);  // nothing pending
  Activity::note_start(slot, 1, Activity::unbounded);
  engine->after_call(slot);
  EXPECT_EQ(polls, 1);
  EXPECT_TRUE(engine->stop(patience));
}

// What is started inherits the class: without a pause it would leave its CPU to nobody.
TEST(Engine, RefusesToPollWithoutAPauseInARealTimeClass) {
  std::thread([] {
    const sched_param lowest{.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) GTEST_SKIP() << "no right to a real-time class";
    std::atomic<int> polls{0};
    const Values while_nothing_is_pending = {{"wait", "mwait"}, {"trigger", "pending"}};
    for (const auto& [preset, settings] : std::vector<std::pair<const char*, Values>>{
             {"idle", {}}, {"thread", {}}, {"mwait", {}}, {"thread", while_nothing_is_pending}}) {
      auto refused = make_engine(preset, polls, settings);
      EXPECT_THROW(refused->start(), std::runtime_error) << preset;
      EXPECT_TRUE(refused->stop(patience));
    }
    schedule_this_thread({.idle_class = true});
    EXPECT_EQ(sched_getscheduler(0), SCHED_FIFO) << "below the program it might hold a lock and never run";
    auto engine = make_engine("adaptive", polls);
    engine->start();
    EXPECT_TRUE(engine->stop(patience));
  }).join();
}

TEST(RealTimeClass, IsNoneWhereNothingInheritsIt) {
  std::thread([] {
    const sched_param lowest{.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) != 0)
      GTEST_SKIP() << "no right to a real-time class";
    EXPECT_FALSE(in_real_time_class());
    std::thread([] { EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER); }).join();
  }).join();
}

TEST(Engine, AThousandStartsAndStopsLeaveNothingBehind) {
  const auto start_and_stop = [](const char* preset) {
    std::atomic<int> polls{0};
    auto engine = make_engine(preset, polls);
    engine->start();
    ASSERT_TRUE(engine->stop(patience));
  };
  start_and_stop("idle");  // ThreadSanitizer starts a thread of its own with a program's first one
  const auto threads = entries("/proc/self/task");
  const auto descriptors = entries("/proc/self/fd");
  for (int i = 0; i < 1000; ++i) start_and_stop(i % 2 ? "adaptive" : "idle");
  EXPECT_TRUE(eventually([&] { return entries("/proc/self/task") == threads; }));
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
}

}  // namespace
}  // namespace progress_engine
