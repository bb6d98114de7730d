// SPDX-License-Identifier: BSD-3-Clause
// A pool of objects that are addressed by small numbers: lock-free to take from and to give back to, grows by chunks,
// never shrinks, so that a stale number still names an object.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace progress_engine::offload {

// T is default-constructible and has a member `std::atomic<std::uint32_t> next_free` and a member
// `std::uint32_t number`, both the pool's. Objects are handed out as they were given back.
template <typename T>
class Pool {
 public:
  static constexpr std::uint32_t chunk_size = 512;
  static constexpr std::uint32_t chunks = 2048;  // 2^20 objects: a leak ends in a sentence before the memory does
  static constexpr std::uint32_t capacity = chunk_size * chunks;

  Pool() = default;
  ~Pool() {
    for (auto& chunk : table_) delete[] chunk.load(std::memory_order_relaxed);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Null if all are in use.
  T* take() {
    std::uint64_t head = head_.load(std::memory_order_acquire);
    while (position(head) != 0) {
      T* object = at(position(head) - 1);
      const std::uint64_t next = tagged(head, object->next_free.load(std::memory_order_relaxed));
      if (head_.compare_exchange_weak(head, next, std::memory_order_acquire)) return object;
    }
    return fresh();
  }

  void give_back(T& object) {
    std::uint64_t head = head_.load(std::memory_order_relaxed);
    do object.next_free.store(position(head), std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(head, tagged(head, object.number + 1), std::memory_order_release,
                                        std::memory_order_relaxed));
  }

  // The object of a number that was handed out before; null for any other.
  T* find(std::uint32_t number) const {
    return number < made_.load(std::memory_order_acquire) && number < capacity ? at(number) : nullptr;
  }

  // How many were ever made: an upper bound of how many were in use at once.
  std::uint32_t made() const { return made_.load(std::memory_order_relaxed); }

 private:
  static std::uint32_t position(std::uint64_t head) { return static_cast<std::uint32_t>(head); }
  // The tag in the upper half changes with every exchange: a head that was taken and came back is not mistaken.
  static std::uint64_t tagged(std::uint64_t old, std::uint32_t position) {
    return (((old >> 32) + 1) << 32) | position;
  }
  T* at(std::uint32_t number) const {
    return table_[number / chunk_size].load(std::memory_order_acquire) + number % chunk_size;
  }

  T* fresh() {
    const std::scoped_lock lock(growing_);
    const std::uint32_t number = made_.load(std::memory_order_relaxed);
    if (number == capacity) return nullptr;
    auto& chunk = table_[number / chunk_size];
    if (!chunk.load(std::memory_order_relaxed)) chunk.store(new T[chunk_size], std::memory_order_release);
    T* object = at(number);
    object->number = number;
    made_.store(number + 1, std::memory_order_release);
    return object;
  }

  std::array<std::atomic<T*>, chunks> table_{};
  alignas(128) std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint32_t> made_{0};
  std::mutex growing_;
};

}  // namespace progress_engine::offload
