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

#include "core/engine.hpp"
#include "counting_progress.hpp"
#include "eventually.hpp"

namespace progress_engine {
namespace {

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

// All threads made while it lives run on one CPU.
class OnOneCpu {
 public:
  OnOneCpu() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnOneCpu() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  cpu_set_t before_{};
};

// Beside a busy thread an idle-class thread gets 0.3 % of the CPU: left alone, its poll would take a minute.
TEST(Engine, AnIdleThreadThatLosesItsCoreInAPollIsLifted) {
  if (geteuid() != 0) GTEST_SKIP() << "lifting a thread out of SCHED_IDLE needs CAP_SYS_NICE";
  const OnOneCpu one_cpu;
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  Engine engine(make_policy(resolve_values("idle", {})), std::make_unique<SlowProgress>(begun, ended), nullptr);
  engine.start();
  ASSERT_TRUE(eventually([&] { return begun.load(); }));
  const Nanoseconds start = now();
  std::jthread busy([&] {
    while (!ended && now() - start < seconds(30)) {
    }
  });
  busy.join();
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

}  // namespace
}  // namespace progress_engine
