// SPDX-License-Identifier: BSD-3-Clause
// What the program's threads are doing: how many operations are pending, and whether a thread is inside MPI.
//
// Each thread writes a cache line of its own with plain stores; only the engine, when it wants to know, reads them all.
// An operation may start in one thread and complete in another: a thread's own difference can be negative, the sum
// cannot.
#pragma once

#include <cstdint>

#include "core/atomics.hpp"

namespace progress_engine {

template <typename Atomics>
struct alignas(128) BasicThreadSlot {
  template <typename T>
  using Atomic = Atomics::template Atomic<T>;

  Atomic<std::uint64_t> started{0};
  Atomic<std::uint64_t> completed{0};
  Atomic<std::uint64_t> rings{0};  // of neighbours' bells
  Atomic<int> depth{0};            // interposed calls that the thread is in, and `outside`
  Atomic<bool> owned{true};
  // Its own thread's business:
  std::uint64_t misses = 0;              // of neighbours that are none
  const std::uintptr_t* mark = nullptr;  // in the frame of the outermost call, see Call::enter_again() in mpi/hooks.hpp
  int holds = 0;                         // of the engine, by calls that have not returned
  BasicThreadSlot* next = nullptr;

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

enum class Owner { program, engine };

template <typename Atomics>
class BasicActivity {
 public:
  using Slot = BasicThreadSlot<Atomics>;

  BasicActivity() = default;
  ~BasicActivity();
  BasicActivity(const BasicActivity&) = delete;
  BasicActivity& operator=(const BasicActivity&) = delete;

  // A slot for the calling thread: one that an ended thread gave back (its counts go on), or a new one.
  Slot& acquire(Owner owner = Owner::program);
  static void release(Slot& slot) {
    slot.depth.store(0, std::memory_order_relaxed);  // an ended thread is nowhere, whatever it left how
    slot.owned.store(false, std::memory_order_release);
  }

  // Never less than the truth: completions are read before starts.
  std::int64_t pending() const {
    const auto done = completed();
    return static_cast<std::int64_t>(started() - done);
  }
  bool anyone_inside() const;
  std::uint64_t started() const { return sum(&Slot::started); }
  std::uint64_t completed() const { return sum(&Slot::completed); }
  std::uint64_t rings() const { return sum(&Slot::rings); }

  // By a thread that has left MPI, before it asks whether another one is inside: of two that leave together, at least
  // one then sees the other outside. One thread alone has nobody to miss, and pays nothing.
  void order_leaving() const {
    if (several_.load(std::memory_order_relaxed)) Atomics::full_fence();
  }

  // What calls for progress though no operation of this process is pending: a window that others reach into, a thread
  // that sleeps until the engine moves its message. Rare, so that one counter does.
  void add_standing() { standing_.fetch_add(1, std::memory_order_release); }
  void remove_standing() { standing_.fetch_sub(1, std::memory_order_release); }
  std::int64_t standing() const { return standing_.load(std::memory_order_acquire); }

 private:
  template <typename T>
  using Atomic = Atomics::template Atomic<T>;

  Slot& take_slot();
  std::uint64_t sum(Atomic<std::uint64_t> Slot::* counter) const {
    std::uint64_t total = 0;
    for (const Slot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next)
      total += (slot->*counter).load(std::memory_order_acquire);
    return total;
  }

  Atomic<Slot*> first_{nullptr};
  Atomic<std::int64_t> standing_{0};
  Atomic<int> threads_{0};       // of the program's that ever had a slot
  Atomic<bool> several_{false};  // more than one of them
};

template <typename Atomics>
BasicActivity<Atomics>::~BasicActivity() {
  for (Slot* slot = first_.load(); slot;) {
    Slot* next = slot->next;
    delete slot;
    slot = next;
  }
}

template <typename Atomics>
auto BasicActivity<Atomics>::acquire(Owner owner) -> Slot& {
  Slot& slot = take_slot();
  if (owner != Owner::program || threads_.fetch_add(1) == 0) return slot;
  // The first thread left MPI without a fence until now: what it wrote so far is seen here from now on, and what it
  // writes later comes after it has seen `several_`.
  several_.store(true);
  Atomics::heavy_fence();
  return slot;
}

template <typename Atomics>
auto BasicActivity<Atomics>::take_slot() -> Slot& {
  for (Slot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next)
    if (bool expected = false; slot->owned.compare_exchange_strong(expected, true)) return *slot;
  auto* slot = new Slot;
  slot->next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(slot->next, slot, std::memory_order_release)) {
  }
  return *slot;
}

template <typename Atomics>
bool BasicActivity<Atomics>::anyone_inside() const {
  for (const Slot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next)
    if (slot->inside()) return true;
  return false;
}

using ThreadSlot = BasicThreadSlot<RealAtomics>;
using Activity = BasicActivity<RealAtomics>;

// Counters with a single writer need no locked instruction.
template <typename Counter>
void add(Counter& counter, std::uint64_t count) {
  counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_release);
}

}  // namespace progress_engine
