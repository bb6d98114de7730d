// SPDX-License-Identifier: BSD-3-Clause
// The plain lock-free queue that pioman's paper argues against (section IV-B): a FIFO in a circular array (Vyukov's
// bounded queue for many producers and consumers). It cannot be traversed: a task is taken out, polled, and put back.
// Here for comparison.
#pragma once

#include <bit>
#include <cstddef>
#include <memory>

#include "tasks/ltask.hpp"

namespace progress_engine {

template <typename Atomics>
class BasicLockFreeQueue {
 public:
  using Task = BasicLtask<Atomics>;

  // Room for `capacity` tasks, rounded up to a power of two.
  explicit BasicLockFreeQueue(std::size_t capacity)
      : mask_(std::bit_ceil(capacity) - 1), cells_(std::make_unique<Cell[]>(mask_ + 1)) {
    for (std::size_t i = 0; i <= mask_; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
  }

  // False if the queue is full. Tasks that are out to be polled keep their room: putting one back cannot fail.
  bool submit(Task& task) {
    if (tasks_.fetch_add(1, std::memory_order_acq_rel) > mask_) {
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
      Task* task = take();
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
  // `turn` says whose turn a cell is: i + k * size to be filled for the k-th time, one more to be emptied.
  struct Cell {
    Atomics::template Atomic<std::size_t> turn{0};
    Task* task = nullptr;
  };

  void put(Task& task) {
    std::size_t place = tail_.load(std::memory_order_relaxed);
    for (int rounds = 0;;) {
      Cell& cell = cells_[place & mask_];
      const std::size_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn == place && tail_.compare_exchange_weak(place, place + 1, std::memory_order_relaxed)) {
        cell.task = &task;
        cell.turn.store(place + 1, std::memory_order_release);
        return;
      }
      if (turn == place) continue;                 // another one was faster; `place` is the new tail
      if (turn < place) Atomics::relax(rounds++);  // the one who empties the cell is not yet through
      place = tail_.load(std::memory_order_relaxed);
    }
  }

  Task* take() {
    std::size_t place = head_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[place & mask_];
      const std::size_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn < place + 1) return nullptr;
      if (turn > place + 1) {
        place = head_.load(std::memory_order_relaxed);
        continue;
      }
      if (!head_.compare_exchange_weak(place, place + 1, std::memory_order_relaxed)) continue;
      Task* task = cell.task;
      cell.turn.store(place + mask_ + 1, std::memory_order_release);
      return task;
    }
  }

  const std::size_t mask_;
  std::unique_ptr<Cell[]> cells_;
  alignas(128) Atomics::template Atomic<std::size_t> tail_{0};
  alignas(128) Atomics::template Atomic<std::size_t> head_{0};
  alignas(128) Atomics::template Atomic<std::size_t> tasks_{0};  // in the array or out to be polled
};

}  // namespace progress_engine
