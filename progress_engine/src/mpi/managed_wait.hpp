// SPDX-License-Identifier: BSD-3-Clause
// Waiting that leaves the CPU to others (pioman's fixed spin): who waits tests for a while, then sleeps; whoever polls
// for the engine tests for all sleepers and wakes those whose operations are done.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "platform/platform.hpp"

namespace progress_engine {

// Of a thread of the program that waits, if the process has more than one CPU.
constexpr Nanoseconds spin_before_sleep = microseconds(20);

class ManagedWaits {
 public:
  // One test of what a thread waits for: a nonblocking MPI call; returns its error code and sets `done` at the end of
  // the wait. One thread at a time makes it, the waiting one or the poller.
  using Test = int (*)(void* operation, int* done);

  explicit ManagedWaits(Nanoseconds spin) : spin_(spin) {}

  // Tests until the operation is done or failed, with its code, or the time of spinning is over: then `done` is 0.
  int spin(Test test, void* operation, int& done) const;

  // Sleeps until the operation is done or failed. Gives up, `done` 0, when `go_on()` no longer holds (the engine is
  // paused, say): then the caller waits as it would without us.
  template <typename GoOn>
  int sleep(Test test, void* operation, int& done, GoOn&& go_on) {
    Sleeper sleeper{test, operation};
    enter(sleeper);
    while (!ended(sleeper) && go_on() && !try_now(sleeper)) {
    }
    leave(sleeper);
    done = sleeper.done;
    return sleeper.code;
  }

  // By the poller, after a poll.
  void look();

  // How often a thread slept. Any thread.
  std::uint64_t sleeps() const { return sleeps_.load(std::memory_order_relaxed); }

 private:
  struct Sleeper {
    Test test;
    void* operation;
    int code = 0;
    int done = 0;
    std::atomic<std::uint32_t> ended{0};  // the futex; done or failed, and no longer in the list
    Sleeper* next = nullptr;
  };
  // A wake-up cannot be lost, but whoever polls may be kept from its CPU: then the sleeper tests by itself.
  static constexpr Nanoseconds longest_sleep = seconds(1) / 100;

  void enter(Sleeper& sleeper);
  static bool ended(Sleeper& sleeper);  // sleeps first
  bool try_now(Sleeper& sleeper);       // the same, by a test of its own
  void leave(Sleeper& sleeper);
  static bool test(Sleeper& sleeper);
  void unlink(Sleeper& sleeper);

  const Nanoseconds spin_;
  std::mutex mutex_;  // of the list, and of the tests of what is in it
  Sleeper* first_ = nullptr;
  std::atomic<int> number_{0};  // of sleepers: who polls for none pays one load
  std::atomic<std::uint64_t> sleeps_{0};
};

}  // namespace progress_engine
