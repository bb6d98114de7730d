// SPDX-License-Identifier: BSD-3-Clause
// The engine's threads as the system has them: signals, scheduling classes, and how they end.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cfenv>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/engine.hpp"
#include "eventually.hpp"
#include "platform/placement.hpp"
#include "platform/scheduling.hpp"
#include "stand_ins.hpp"

// As where an administrator sets the clock: for the engine, which asks here; the kernel knows better.
static std::atomic<long> time_of_day_shift{0};
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto code = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME) time->tv_sec += time_of_day_shift;
  return code;
}

namespace progress_engine {
namespace {

// In a poll until it may go on.
class HeldProgress : public ProgressFunction {
 public:
  HeldProgress(std::atomic<bool>& polling, std::atomic<bool>& go_on) : polling_(polling), go_on_(go_on) {}
  void poll() override {
    for (polling_ = true; !go_on_;) usleep(100);
  }

 private:
  std::atomic<bool>& polling_;
  std::atomic<bool>& go_on_;
};

// What an engine thread inherits, seen from inside a poll.
class InspectingProgress : public ProgressFunction {
 public:
  explicit InspectingProgress(std::atomic<int>& findings) : findings_(findings) {}
  void poll() override {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    const bool quiet = sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGUSR1) == 1;
    bool crashes = true;  // as a crash does without the engine
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) crashes = crashes && sigismember(&blocked, own) == 0;
    findings_ = 1 + (quiet ? 2 : 0) + (std::fegetround() == FE_UPWARD ? 4 : 0) + (crashes ? 8 : 0);
  }

 private:
  std::atomic<int>& findings_;
};

TEST(Engine, ThreadsBlockSignalsAndInheritTheFloatingPointMode) {
  std::atomic<int> findings{0};
  const int mode = std::fegetround();
  std::fesetround(FE_UPWARD);
  Engine engine(make_policy(resolve_values("thread", {})), std::make_unique<InspectingProgress>(findings), nullptr);
  engine.start();
  std::fesetround(mode);
  EXPECT_TRUE(eventually([&] { return findings != 0; }));
  EXPECT_TRUE(engine.stop(patience));
  EXPECT_EQ(findings, 15);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGINT), 0);
}

// A poll that needs some CPU time, of an idle-class thread.
class SlowProgress : public ProgressFunction {
 public:
  SlowProgress(std::atomic<bool>& begun, std::atomic<bool>& ended) : begun_(begun), ended_(ended) {}
  void poll() override {
    if (sched_getscheduler(0) != SCHED_IDLE || begun_.exchange(true)) return;
    for (const Nanoseconds end = cpu_time() + microseconds(200'000); cpu_time() < end;) {
    }
    ended_ = true;
  }

 private:
  static Nanoseconds cpu_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return seconds(time.tv_sec) + time.tv_nsec;
  }
  std::atomic<bool>& begun_;
  std::atomic<bool>& ended_;
};

// Busy beside it on every CPU, since engine threads may use all that the process has, an idle-class thread gets 0.3 %
// of one: left alone, its poll would take a minute.
TEST(Engine, AnIdleThreadThatLosesItsCoreInAPollIsLifted) {
  if (geteuid() != 0) GTEST_SKIP() << "lifting a thread out of SCHED_IDLE needs CAP_SYS_NICE";
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  Engine engine(make_policy(resolve_values("idle", {})), std::make_unique<SlowProgress>(begun, ended), nullptr);
  engine.start();
  ASSERT_TRUE(eventually([&] { return begun.load(); }));
  const Nanoseconds start = now();
  std::vector<std::jthread> busy;
  for (const int cpu : cpus_of_process())
    busy.emplace_back([&, cpu] {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(static_cast<std::size_t>(cpu), &one);
      sched_setaffinity(0, sizeof one, &one);
      while (!ended && now() - start < seconds(30)) {
      }
    });
  busy.clear();
  EXPECT_TRUE(ended) << "after 30 seconds";
  EXPECT_TRUE(engine.stop(patience));
}

// By this thread and those that it makes.
void give_up_sys_nice() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets{};
  ASSERT_EQ(syscall(SYS_capget, &header, sets.data()), 0);
  sets[0].effective &= ~CAP_TO_MASK(CAP_SYS_NICE);
  ASSERT_EQ(syscall(SYS_capset, &header, sets.data()), 0);
}

TEST(Engine, WithoutThePrivilegeToLiftThemIdleThreadsAreNiceInstead) {
  rlimit limit{};
  getrlimit(RLIMIT_NICE, &limit);
  if (limit.rlim_cur >= 20) GTEST_SKIP() << "RLIMIT_NICE gives the privilege";
  std::jthread([] {
    give_up_sys_nice();
    std::atomic<int> polls{0};
    const auto engine = make_engine("idle", polls);
    engine->start();
    for (const auto& worker : engine->workers()) {
      if (std::string_view(worker->role) == "timer") continue;
      EXPECT_STREQ(worker->role, "nice");
      ASSERT_TRUE(eventually([&] { return worker->tid > 0; }));
      EXPECT_EQ(sched_getscheduler(worker->tid), SCHED_OTHER);
      EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(worker->tid)), 19);
    }
    EXPECT_TRUE(engine->stop(patience));
  }).join();
}

// A poll that another thread blocks, as an MPI's lock does.
class StuckProgress : public ProgressFunction {
 public:
  StuckProgress(std::atomic<bool>& entered, std::atomic<bool>& leave) : entered_(entered), leave_(leave) {}
  void poll() override {
    entered_ = true;
    while (!leave_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::atomic<bool>& entered_;
  std::atomic<bool>& leave_;
};

TEST(Engine, StopGivesUpOnAThreadThatIsStuck) {
  std::atomic<bool> entered{false};
  std::atomic<bool> leave{false};
  Engine engine(make_policy(resolve_values("thread", {})), std::make_unique<StuckProgress>(entered, leave), nullptr);
  engine.start();
  ASSERT_TRUE(eventually([&] { return entered.load(); }));
  EXPECT_FALSE(engine.stop(microseconds(20000)));
  leave = true;
  EXPECT_TRUE(engine.stop(patience));
}

// What a poll or the system throws must end neither the program nor the calls that wait for the poll's end.
class FailingProgress : public ProgressFunction {
 public:
  void poll() override { throw std::runtime_error("made up"); }
};

TEST(Engine, AThreadThatFailsLeavesTheProgramAlone) {
  Engine engine(make_policy(resolve_values("timer", {})), std::make_unique<FailingProgress>(), nullptr);
  testing::internal::CaptureStderr();
  engine.start();
  EXPECT_TRUE(eventually([&] { return engine.workers().front()->ended.load(); }));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("failed: made up; the program goes on without it"),
            std::string::npos);
  EXPECT_TRUE(engine.paused());
  engine.begin_exclusive();
  engine.end_exclusive();
  EXPECT_TRUE(engine.stop(patience));
}

// One goes by MPI_Finalize, the other by exit.
TEST(Engine, EndsOnceForTwoThreadsThatEndIt) {
  std::atomic<bool> polling{false};
  std::atomic<bool> go_on{false};
  Engine engine(make_policy(resolve_values("thread", {})), std::make_unique<HeldProgress>(polling, go_on), nullptr);
  engine.start();
  EXPECT_TRUE(eventually([&] { return polling.load(); }));
  std::array<bool, 2> ended{};
  std::thread other([&] { ended[0] = engine.stop(patience); });
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // both wait by then, most likely
    go_on = true;
  });
  ended[1] = engine.stop(patience);
  other.join();
  later.join();
  EXPECT_TRUE(ended[0] && ended[1]);
}

TEST(Engine, AThreadEndsInTimeWhateverTheTimeOfDay) {
  time_of_day_shift = -3600;
  const auto thread = start_engine_thread("pe-test", [] { usleep(1000); });
  EXPECT_TRUE(join_engine_thread(thread, patience));
  time_of_day_shift = 0;
}

// An operation of a Fortran program has arrays there.
TEST(Engine, AThreadsStackIsAsLargeAsTheProgramsOwn) {
  constexpr std::size_t large = 24UL << 20;
  rlimit before{};
  getrlimit(RLIMIT_STACK, &before);
  if (before.rlim_max < 2 * large) GTEST_SKIP() << "stacks are limited here";
  const rlimit wanted{2 * large, before.rlim_max};
  setrlimit(RLIMIT_STACK, &wanted);
  std::size_t size = 0;
  const auto thread = start_engine_thread("pe-test", [&size] {
    pthread_attr_t attributes;
    void* begin = nullptr;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &begin, &size);
    pthread_attr_destroy(&attributes);
  });
  EXPECT_TRUE(join_engine_thread(thread, patience));
  setrlimit(RLIMIT_STACK, &before);
  EXPECT_GE(size, large);
}

}  // namespace
}  // namespace progress_engine
