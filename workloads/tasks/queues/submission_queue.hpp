// SPDX-License-Identifier: BSD-3-Clause
// pioman's queue (Denis, PDP 2015, section IV-B): a lock-free submission queue beside a main list whose lock is a mask.
//
// Submitting never touches the list or its lock. A poller that finds the mask taken goes on: somebody else runs these
// tasks. The poller that holds the mask is the submission queue's only reader.
#pragma once

#include "tasks/queues/ltask.hpp"

namespace progress_engine {

template <typename Atomics>
class BasicSubmissionQueue {
 public:
  using Task = BasicLtask<Atomics>;

  // Never refuses. Takes from a stack all at once, so that its push has no ABA problem.
  bool submit(Task& task) {
    Task* first = submitted_.load(std::memory_order_relaxed);
    do {
      task.next = first;
    } while (!submitted_.compare_exchange_weak(first, &task, std::memory_order_release, std::memory_order_relaxed));
    return true;
  }

  // Polls each task once, none if another thread is at it. Returns how many.
  int run() {
    if (!take_mask()) return 0;
    if (submitted_.load(std::memory_order_relaxed))
      tasks_.append_reversed(submitted_.exchange(nullptr, std::memory_order_acq_rel));
    const int polled = tasks_.run();
    filled_.store(!tasks_.empty(), std::memory_order_relaxed);
    mask_.store(false, std::memory_order_release);
    return polled;
  }

  // True only if every task submitted before is done. A task is in one of the three at any time.
  bool empty() const {
    return !submitted_.load(std::memory_order_acquire) && !mask_.load(std::memory_order_acquire) &&
           !filled_.load(std::memory_order_acquire);
  }

 private:
  // Reading first: a busy mask is then only read, never written.
  bool take_mask() {
    return !mask_.load(std::memory_order_relaxed) && !mask_.exchange(true, std::memory_order_acquire);
  }

  alignas(128) Atomics::template Atomic<Task*> submitted_{nullptr};
  alignas(128) Atomics::template Atomic<bool> mask_{false};
  Atomics::template Atomic<bool> filled_{false};  // by the mask's holder
  BasicTaskList<Atomics> tasks_;                  // the mask's holder's
};

}  // namespace progress_engine
