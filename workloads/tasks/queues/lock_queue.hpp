// SPDX-License-Identifier: BSD-3-Clause
// The lock-based queue that pioman's paper argues against (section IV-B): one spin lock, held to submit and held while
// tasks are polled. Here for comparison.
#pragma once

#include <cstdint>

#include "tasks/queues/ltask.hpp"

namespace progress_engine {

template <typename Atomics>
class BasicLockQueue {
 public:
  using Task = BasicLtask<Atomics>;

  // Never refuses. A task that submits another one already holds the lock.
  bool submit(Task& task) {
    const bool own = holder_.load(std::memory_order_relaxed) == Atomics::this_thread();
    if (!own) lock();
    tasks_.append(task);
    if (!own) unlock();
    return true;
  }

  int run() {
    lock();
    const int polled = tasks_.run();
    unlock();
    return polled;
  }

  bool empty() {
    lock();
    const bool none = tasks_.empty();
    unlock();
    return none;
  }

 private:
  void lock() {
    for (int rounds = 0;; Atomics::relax(rounds++)) {
      std::uintptr_t nobody = 0;
      if (holder_.load(std::memory_order_relaxed) == 0 &&
          holder_.compare_exchange_strong(nobody, Atomics::this_thread(), std::memory_order_acquire))
        return;
    }
  }
  void unlock() { holder_.store(0, std::memory_order_release); }

  alignas(128) Atomics::template Atomic<std::uintptr_t> holder_{0};
  BasicTaskList<Atomics> tasks_;
};

}  // namespace progress_engine
