// SPDX-License-Identifier: BSD-3-Clause
// What threads will do, waited for: soon on a quiet machine, in time on a busy one.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "platform/platform.hpp"

namespace progress_engine {

constexpr Nanoseconds patience = seconds(60);

inline void wait(Nanoseconds time) { std::this_thread::sleep_for(std::chrono::nanoseconds(time)); }

inline bool eventually(const std::function<bool()>& holds) {
  for (const Nanoseconds end = now() + patience; now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Whether a thread of this process sleeps: its state in proc(5) stands behind its name.
inline bool asleep(pid_t tid) {
  std::string said;
  std::getline(std::ifstream("/proc/self/task/" + std::to_string(tid) + "/stat"), said);
  return said.find(") S ") != std::string::npos;
}

// A process's status; 0 if it was killed.
inline int status_of(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

// A process whose status `body` says, as the first in namespaces of its own (clone(2)), as in a container. Forbidden
// where this user may make none.
constexpr int forbidden = 77;
inline pid_t start_in_namespaces(int which, const std::function<bool()>& body) {
  const std::string map = "0 " + std::to_string(geteuid()) + " 1";
  const pid_t outside = fork();
  if (outside != 0) return outside;
  if (unshare(which) != 0 || !(std::ofstream("/proc/self/uid_map") << map << std::flush)) std::_Exit(forbidden);
  const pid_t inside = fork();
  std::_Exit(inside == 0 ? int{body()} : status_of(inside));
}

// A sleeper that is rung at random moments of its way to sleep: a lost ring would leave it asleep.
constexpr Nanoseconds for_ever = seconds(3600);  // the bound of its sleeps

struct Rings {
  std::atomic<int> sent{0};
  std::atomic<int> answered{0};
  std::atomic<bool> over{false};
  bool one_waits() const { return sent > answered || over; }
};

// As often as `rounds`, or as a busy machine manages in ten seconds.
inline void ring_many_times(int rounds, Rings& rings, const std::function<void()>& sleep,
                            const std::function<void()>& ring) {
  const std::jthread sleeper([&] {
    while (!rings.over) {
      sleep();
      if (rings.sent > rings.answered) ++rings.answered;
    }
  });
  bool lost = false;
  const Nanoseconds begin = now();
  for (int i = 1; i <= rounds && !lost && now() - begin < seconds(10); ++i) {
    rings.sent.store(i, std::memory_order_release);
    ring();
    const Nanoseconds rung = now();
    while (rings.answered < i && !lost) lost = now() - rung > patience;
  }
  EXPECT_FALSE(lost) << "after " << rings.answered;
  rings.over = true;
  ring();
}

}  // namespace progress_engine
