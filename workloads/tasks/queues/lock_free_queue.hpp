// SPDX-License-Identifier: BSD-3-Clause
// The plain lock-free queue that pioman's paper argues against (section IV-B): a FIFO in a circular array, the
// one that the preset offload uses for its commands. It cannot be traversed: a task is taken out, polled, and put back.
// Here for comparison.
#pragma once

#include <bit>
#include <cstddef>

#include "offload/command_queue.hpp"
#include "tasks/queues/ltask.hpp"

namespace progress_engine {

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

}  // namespace progress_engine
