// SPDX-License-Identifier: BSD-3-Clause
// The light task of pioman (Denis, PDP 2015, section III-B): a small job that is polled until it says that it is done.
#pragma once

#include <cstdint>

#include "platform/platform.hpp"

namespace progress_engine {

// A semaphore that is posted once. Waiting for it costs the poster a system call only if somebody sleeps.
template <typename Atomics>
class BasicCompletion {
 public:
  bool done() const { return state_.load(std::memory_order_acquire) == posted; }
  void reset() { state_.store(pending, std::memory_order_relaxed); }

  // Whoever waits may free this object as soon as the exchange is seen: afterwards only its address is used.
  void post() {
    if (state_.exchange(posted, std::memory_order_acq_rel) == awaited) Atomics::wake(state_);
  }

  // Sleeps until posted, at most for `bound`; may end early.
  void sleep(Nanoseconds bound) {
    std::uint32_t seen = pending;
    if (state_.compare_exchange_strong(seen, awaited, std::memory_order_acq_rel) || seen == awaited)
      Atomics::wait(state_, awaited, bound);
  }

 private:
  static constexpr std::uint32_t pending = 0;
  static constexpr std::uint32_t awaited = 1;
  static constexpr std::uint32_t posted = 2;
  Atomics::Word state_{pending};
};

// Belongs to its user, who keeps it until it is done; from submission to completion it is in exactly one queue, whose
// holder alone polls it: it never runs twice at once.
template <typename Atomics>
struct BasicLtask {
  // Non-zero: done. Runs on any thread that polls; must not wait for another ltask.
  using Poll = int (*)(void* argument);

  Poll poll = nullptr;
  void* argument = nullptr;
  BasicLtask* next = nullptr;  // the queue's
  BasicCompletion<Atomics> completion{};
};

// Ltasks in the order of their submission. For one thread at a time.
template <typename Atomics>
class BasicTaskList {
 public:
  using Task = BasicLtask<Atomics>;

  bool empty() const { return first_ == nullptr; }

  void append(Task& task) {
    task.next = nullptr;
    *end_ = &task;
    end_ = &task.next;
  }

  // Appends a chain whose first task was submitted last.
  void append_reversed(Task* chain) {
    Task* first = nullptr;
    while (chain) {
      Task* next = chain->next;
      chain->next = first;
      first = chain;
      chain = next;
    }
    while (first) {
      Task* next = first->next;
      append(*first);
      first = next;
    }
  }

  // Polls each task once and drops those that are done. A poll may append to this list: such a task comes last.
  // Returns how many it polled.
  int run() {
    int polled = 0;
    for (Task** link = &first_; *link; ++polled) {
      Task* task = *link;
      if (task->poll(task->argument) == 0) {
        link = &task->next;
        continue;
      }
      *link = task->next;
      if (end_ == &task->next) end_ = link;
      task->completion.post();
    }
    return polled;
  }

 private:
  Task* first_ = nullptr;
  Task** end_ = &first_;
};

using Ltask = BasicLtask<RealAtomics>;

}  // namespace progress_engine
