// SPDX-License-Identifier: BSD-3-Clause
// The three designs of a task queue behind one interface.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "offload/communication_thread.hpp"
#include "tasks/queues/ltask.hpp"

namespace progress_engine {

enum class QueueDesign { submission, lock, lock_free };

class TaskQueue {
 public:
  TaskQueue() = default;
  virtual ~TaskQueue() = default;
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // Any thread. False if there is no room (only a lock-free queue can be full).
  virtual bool submit(Ltask& task) = 0;
  // Polls each task about once; skips what another thread is at. Any thread, but not from within an ltask of this
  // queue. Returns how many tasks it polled.
  virtual int run() = 0;
  // False while a task is not done.
  virtual bool empty() = 0;
};

// `capacity` is the room of a lock-free queue; the others have no bound.
std::unique_ptr<TaskQueue> make_task_queue(QueueDesign design, std::size_t capacity);

// The lock-based queue that pioman's paper argues against (section IV-B): one spin lock, held to submit and held while
// tasks are polled. Here for comparison.

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

// The plain lock-free queue that pioman's paper argues against (section IV-B): a FIFO in a circular array, the
// one that the preset offload uses for its commands. It cannot be traversed: a task is taken out, polled, and put back.
// Here for comparison.

template <typename Atomics>
class BasicLockFreeQueue {
 public:
  using Task = BasicLtask<Atomics>;

  // Room for `capacity` tasks, rounded up to a power of two.
  explicit BasicLockFreeQueue(std::size_t capacity) : capacity_(std::bit_ceil(capacity)), queue_(capacity_) {}

  // False if the queue is full. Tasks that are out to be polled keep their room: putting one back cannot fail.
  bool submit(Task& task) {
    if (tasks_.fetch_add(1, std::memory_order_acq_rel) >= capacity_) {
      tasks_.fetch_sub(1, std::memory_order_acq_rel);
      return false;
    }
    put(task);
    return true;
  }

  // Polls as many tasks as there are now. Other pollers may run others meanwhile. Returns how many.
  int run() {
    int polled = 0;
    for (auto left = tasks_.load(std::memory_order_acquire); left > 0; --left) {
      Task* task = queue_.pop();
      if (!task) break;
      ++polled;
      if (task->poll(task->argument) == 0) {
        put(*task);
        continue;
      }
      tasks_.fetch_sub(1, std::memory_order_acq_rel);
      task->completion.post();
    }
    return polled;
  }

  bool empty() const { return tasks_.load(std::memory_order_acquire) == 0; }

 private:
  // There is room: if it does not go in, who empties the cell is not yet through.
  void put(Task& task) {
    for (int rounds = 0; !queue_.push(&task);) Atomics::relax(rounds++);
  }

  const std::size_t capacity_;
  offload::CommandQueue<Task, Atomics> queue_;
  alignas(128) Atomics::template Atomic<std::size_t> tasks_{0};  // in the array or out to be polled
};

// pioman's queue (Denis, PDP 2015, section IV-B): a lock-free submission queue beside a main list whose lock is a mask.
//
// Submitting never touches the list or its lock. A poller that finds the mask taken goes on: somebody else runs these
// tasks. The poller that holds the mask is the submission queue's only reader.

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
