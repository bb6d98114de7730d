// SPDX-License-Identifier: BSD-3-Clause
// What the program's threads are doing: how many operations are pending, and whether a thread is inside MPI.
//
// Each thread writes a cache line of its own with plain stores; only the engine, when it wants to know, reads them all.
// An operation may start in one thread and complete in another: a thread's own difference can be negative, the sum
// cannot.
#pragma once

#include <atomic>
#include <cstdint>

namespace progress_engine {

struct alignas(128) ThreadSlot {
  std::atomic<std::uint64_t> started{0};
  std::atomic<std::uint64_t> completed{0};
  std::atomic<std::uint64_t> rings{0};  // of neighbours' bells
  std::atomic<int> depth{0};            // interposed calls that the thread is in, and `outside`
  std::atomic<bool> owned{true};
  std::uint64_t misses = 0;  // of neighbours that are none; its own thread's business
  ThreadSlot* next = nullptr;

  // Added to the depth while the thread polls for the engine, or sleeps in its call: then it is in nobody's way.
  static constexpr int outside = 1 << 16;
  // By the thread itself.
  void change_depth(int by) { depth.store(depth.load(std::memory_order_relaxed) + by, std::memory_order_release); }
  // By any.
  bool inside() const {
    const int now = depth.load(std::memory_order_acquire);
    return now > 0 && now < outside;
  }
};

class Activity {
 public:
  Activity() = default;
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  // A slot for the calling thread: one that an ended thread gave back (its counts go on), or a new one.
  ThreadSlot& acquire();
  static void release(ThreadSlot& slot) { slot.owned.store(false, std::memory_order_release); }

  // Never less than the truth: completions are read before starts.
  std::int64_t pending() const;
  bool anyone_inside() const;
  std::uint64_t started() const;
  std::uint64_t completed() const;
  std::uint64_t rings() const;

  // What calls for progress though no operation of this process is pending: a window that others reach into, a thread
  // that sleeps until the engine moves its message. Rare, so that one counter does.
  void add_standing() { standing_.fetch_add(1, std::memory_order_release); }
  void remove_standing() { standing_.fetch_sub(1, std::memory_order_release); }
  std::int64_t standing() const { return standing_.load(std::memory_order_acquire); }

 private:
  std::atomic<ThreadSlot*> first_{nullptr};
  std::atomic<std::int64_t> standing_{0};
};

// Counters with a single writer need no locked instruction.
inline void add(std::atomic<std::uint64_t>& counter, std::uint64_t count) {
  counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_release);
}

}  // namespace progress_engine
