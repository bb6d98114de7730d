// SPDX-License-Identifier: BSD-3-Clause
// The command queue: bounded and lock-free, of pointers, many producers, many consumers (D. Vyukov's bounded MPMC
// queue: each cell has a sequence number that says whose turn it is). Commands come out in the order in which their
// pushes succeeded: a thread that learns of another's push, and then pushes, comes after it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "platform/platform.hpp"

namespace progress_engine::offload {

template <typename T, typename Atomics = RealAtomics>
class CommandQueue {
 public:
  // `capacity` must be a power of two.
  explicit CommandQueue(std::size_t capacity) : mask_(capacity - 1), cells_(std::make_unique<Cell[]>(capacity)) {
    for (std::size_t i = 0; i < capacity; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
  }

  // False if it is full. The pointee is the consumer's until it says otherwise.
  bool push(T* item) {
    std::size_t ticket = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[ticket & mask_];
      const auto ahead = static_cast<std::intptr_t>(cell.turn.load(std::memory_order_acquire) - ticket);
      if (ahead < 0) return false;
      if (ahead > 0) {
        ticket = tail_.load(std::memory_order_relaxed);
      } else if (tail_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) {
        cell.item = item;
        cell.turn.store(ticket + 1, std::memory_order_release);
        return true;
      }
    }
  }

  // Null if nothing is there.
  T* pop() {
    std::size_t ticket = head_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[ticket & mask_];
      const auto ahead = static_cast<std::intptr_t>(cell.turn.load(std::memory_order_acquire) - (ticket + 1));
      if (ahead < 0) return nullptr;
      if (ahead > 0) {
        ticket = head_.load(std::memory_order_relaxed);
      } else if (head_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) {
        T* item = cell.item;
        cell.turn.store(ticket + mask_ + 1, std::memory_order_release);
        return item;
      }
    }
  }

  // What pop() would give; while nobody else pops.
  T* front() const {
    const std::size_t ticket = head_.load(std::memory_order_relaxed);
    const Cell& cell = cells_[ticket & mask_];
    return cell.turn.load(std::memory_order_acquire) == ticket + 1 ? cell.item : nullptr;
  }

  // Whether a pop() would have found something at some time during this call.
  bool empty() const {
    const std::size_t ticket = head_.load(std::memory_order_relaxed);
    return cells_[ticket & mask_].turn.load(std::memory_order_acquire) == ticket;
  }

 private:
  // Neighbouring cells share cache lines: spread out, a burst of commands would cost the consumer a miss each.
  struct Cell {
    Atomics::template Atomic<std::size_t> turn{0};
    T* item = nullptr;
  };

  const std::size_t mask_;
  const std::unique_ptr<Cell[]> cells_;
  alignas(128) Atomics::template Atomic<std::size_t> tail_{0};
  alignas(128) Atomics::template Atomic<std::size_t> head_{0};
};

}  // namespace progress_engine::offload
