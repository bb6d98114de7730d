// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/queues/task_engine.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <functional>

#include "eventually.hpp"
#include "platform/placement.hpp"
#include "refuse_call.h"

namespace progress_engine {
namespace {

struct Latch {
  std::atomic<bool> open{false};
  std::atomic<int> polled{0};
  Ltask task{.poll = poll, .argument = this};
  static int poll(void* argument) {
    auto& self = *static_cast<Latch*>(argument);
    ++self.polled;
    return self.open ? 1 : 0;
  }
};

Topology machine() { return Topology::synthetic("package:2 core:2 pu:1"); }

// One polling point at a time: whatever the place, its tasks progress while the program is not there.
void expect_background_progress(const TaskEngineOptions& options, std::size_t threads) {
  TaskEngine engine(machine(), options);
  EXPECT_EQ(engine.threads(), threads);
  std::deque<Latch> latches(engine.tree().topology().places().size());
  for (int place = 0; auto& latch : latches) ASSERT_TRUE(engine.submit(latch.task, place++));
  for (auto& latch : latches) EXPECT_TRUE(eventually([&] { return latch.polled > 3; }));
  for (auto& latch : latches) latch.open = true;
  for (auto& latch : latches) EXPECT_TRUE(eventually([&] { return latch.task.completion.done(); }));
}

TEST(TaskEngine, AnIdleThreadAPackagePolls) {
  expect_background_progress({.idle = "package", .idle_period = microseconds(10)}, 2);
}
TEST(TaskEngine, AnIdleThreadACorePolls) { expect_background_progress({.idle = "core"}, 4); }
TEST(TaskEngine, TheTimerPolls) { expect_background_progress({.timer_period = microseconds(1000)}, 1); }
TEST(TaskEngine, ADedicatedThreadPolls) { expect_background_progress({.dedicated = 1}, 1); }

TEST(TaskEngine, WaitEndsWithATaskThatAnotherThreadFinishes) {
  for (const Nanoseconds spin : {Nanoseconds{0}, seconds(60)}) {  // sleeps at once; only polls
    TaskEngine engine(machine(), {.timer_period = microseconds(500), .spin = spin});
    Latch latch;
    engine.submit(latch.task, 3);
    const pid_t waits = gettid();
    std::jthread opener([&] {
      EXPECT_TRUE(eventually([&] { return spin > 0 ? latch.polled > 100 : asleep(waits); }));
      latch.open = true;
    });
    engine.wait(latch.task);
    EXPECT_TRUE(latch.task.completion.done());
  }
}

TEST(TaskEngine, WithoutThreadsWaitingPollsEveryPlace) {
  TaskEngine engine(machine(), {.spin = 0});
  for (int place = 0; place < 7; ++place) {
    Latch latch;
    latch.open = true;
    engine.submit(latch.task, place);
    engine.wait(latch.task);
    EXPECT_EQ(latch.polled, 1);
  }
}

TEST(TaskEngine, ThreadsSleepWhileThereIsNothingToDo) {
  TaskEngine engine(machine(), {.idle = "machine", .idle_period = microseconds(10), .timer_period = microseconds(10)});
  const auto cpu_time = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return seconds(time.tv_sec) + time.tv_nsec;
  };
  EXPECT_TRUE(eventually([&] {
    const Nanoseconds before = cpu_time();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return cpu_time() - before < microseconds(5000);  // two threads that polled every 10 us would take 10 times as much
  }));
  Latch latch;
  latch.open = true;
  engine.submit(latch.task, 0);
  EXPECT_TRUE(eventually([&] { return latch.task.completion.done(); }));
}

TEST(TaskEngine, ThreadsStayOnTheCpusThatTheProcessWasGiven) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  sched_setaffinity(0, sizeof one, &one);
  struct Seen {
    std::atomic<int> count{0};
    Ltask task{.poll = poll, .argument = this};
    static int poll(void* argument) {
      cpu_set_t mine;
      sched_getaffinity(0, sizeof mine, &mine);
      static_cast<Seen*>(argument)->count = CPU_COUNT(&mine);
      return 1;
    }
  } seen;
  {
    TaskEngine engine(Topology::of_this_machine(), {.idle = "core"});
    engine.submit(seen.task, 0);
    EXPECT_TRUE(eventually([&] { return seen.task.completion.done(); }));
  }
  EXPECT_EQ(seen.count, 1);
  sched_setaffinity(0, sizeof before, &before);
}

// A kernel for more than 1024 CPUs refuses a shorter mask than its own.
TEST(TaskEngineDeathTest, ThreadsAreBoundHoweverManyCpusTheMachineMayHave) {
  struct Seen {
    std::atomic<std::size_t> cpus{0};
    Ltask task{.poll = poll, .argument = this};
    static int poll(void* argument) {
      static_cast<Seen*>(argument)->cpus = allowed_cpus(0).size();
      return 1;
    }
  };
  const Cpus own = allowed_cpus(0);
  if (own.size() < 2 || own.front() > 3) GTEST_SKIP() << "no CPU of the four to be bound to, among several";
  const auto see_with_long_masks = [&] {
    if (!refuse_call(SYS_sched_getaffinity, EINVAL, 0, sizeof(cpu_set_t))) return true;
    Seen seen;
    TaskEngine engine(machine(), {.idle = "core"});
    engine.submit(seen.task, engine.tree().topology().leaf_of_cpu(own.front()));
    return eventually([&] { return seen.task.completion.done(); }) && seen.cpus == 1;
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // it starts threads
  EXPECT_EXIT(std::_Exit(see_with_long_masks() ? 0 : 1), testing::ExitedWithCode(0), "");
}

Nanoseconds thread_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

// Lock-holder preemption: the idle thread loses its only CPU to a computation while it polls. As long as it stays in
// the idle class, the rest of that poll takes a minute.
TEST(TaskEngine, APreemptedIdleThreadDoesNotHoldTheQueue) {
  if (geteuid() != 0) GTEST_SKIP() << "leaving the idle class needs CAP_SYS_NICE";
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  sched_setaffinity(0, sizeof one, &one);
  struct LongPoll {
    std::atomic<bool> entered{false};
    Ltask task{.poll = poll, .argument = this};
    static int poll(void* argument) {
      static_cast<LongPoll*>(argument)->entered = true;
      for (const Nanoseconds end = thread_cpu_time() + microseconds(200'000); thread_cpu_time() < end;) continue;
      return 1;
    }
  } poll;
  {
    TaskEngine engine(Topology::of_this_machine(), {.idle = "machine", .timer_period = seconds(1)});
    engine.submit(poll.task, 0);
    EXPECT_TRUE(eventually([&] { return poll.entered.load(); }));
    for (const Nanoseconds end = now() + seconds(30); now() < end && !poll.task.completion.done();) continue;
    EXPECT_TRUE(poll.task.completion.done());
  }
  sched_setaffinity(0, sizeof before, &before);
}

TEST(TaskEngine, EndsWithTasksThatAreNotDone) {
  Latch latch;
  for (int i = 0; i < 50; ++i) {
    TaskEngine engine(machine(), {.idle = "package", .timer_period = microseconds(100), .dedicated = 1});
    engine.submit(latch.task, i % 7);
  }
  const int polled = latch.polled;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(latch.polled, polled);
}

}  // namespace
}  // namespace progress_engine
