// SPDX-License-Identifier: BSD-3-Clause
// What the program's threads are doing, how many operations are pending and whether a thread is inside MPI; and where
// the engine's threads sleep until that calls for them.
//
// Each thread writes a cache line of its own with plain stores; only the engine, when it wants to know, reads them all.
// An operation may start in one thread and complete in another: a thread's own difference can be negative, the sum
// cannot.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"

namespace progress_engine {

// Counters with a single writer need no locked instruction.
template <typename Counter>
void add(Counter& counter, std::uint64_t count) {
  counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_release);
}

template <typename Atomics>
struct alignas(128) BasicThreadSlot {
  template <typename T>
  using Atomic = Atomics::template Atomic<T>;

  Atomic<std::uint64_t> started{0};
  Atomic<std::uint64_t> completed{0};
  Atomic<std::uint64_t> weight{0};             // of what was started, see BasicActivity::needs_progress()
  Atomic<std::uint64_t> long_messages{0};      // among them, point to point
  Atomic<std::uint64_t> rings{0};              // of neighbours' doorbells
  Atomic<std::uint64_t> window_operations{0};  // into others' windows
  Atomic<std::uint64_t> window_wait{0};        // nanoseconds in calls that wait for those
  Atomic<int> depth{0};                        // interposed calls that the thread is in, and `outside`
  Atomic<bool> owned{true};
  std::atomic<int> left_elsewhere{0};  // of the depth: calls of user-level threads that ended on another kernel thread
  // Its own thread's business:
  std::uint64_t misses = 0;              // of neighbours that are none
  const std::uintptr_t* mark = nullptr;  // in the frame of the outermost call, see Call::enter_again() in mpi/call.hpp
  std::atomic<int> exclusive_sections{0};  // of calls that have not returned
  bool several_callers = false;            // several user-level threads are in calls that they began here
  BasicThreadSlot* next = nullptr;

  // Added to the depth while the thread polls for the engine, or sleeps in its call: then it is in nobody's way.
  static constexpr int outside = 1 << 16;
  // By the thread itself.
  void change_depth(int by) { depth.store(depth.load(std::memory_order_relaxed) + by, std::memory_order_release); }
  // By any.
  bool inside() const {
    const int now = calls();
    return now > 0 && now < outside;
  }
  // The same, or it sleeps or polls in its call: it does not compute. By any.
  bool in_call() const { return calls() % outside > 0; }

 private:
  int calls() const { return depth.load(std::memory_order_acquire) - left_elsewhere.load(std::memory_order_acquire); }
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
    slot.left_elsewhere.store(0, std::memory_order_relaxed);
    slot.several_callers = false;
    slot.owned.store(false, std::memory_order_release);
  }

  // Never less than the truth: completions are read before starts. What started unseen, as by a library that has taken
  // a function from the MPI's own file, and is seen to complete must not hide later operations for the rest of the run.
  std::int64_t pending() const {
    const auto done = completed();
    const auto begun = started();
    auto unseen = unseen_.load(std::memory_order_relaxed);
    const auto difference = static_cast<std::int64_t>(begun + unseen - done);
    if (difference < 0) unseen_.compare_exchange_strong(unseen, done - begun);
    return std::max<std::int64_t>(difference, 0);
  }
  // By a thread of the program, of operations that it started: bytes of a message that its MPI moves without further
  // progress, else `unbounded` for each. In this order: who has seen the weight has seen the start.
  static void note_start(Slot& slot, std::uint64_t operations, std::uint64_t weight) {
    add(slot.started, operations);
    add(slot.weight, weight);
  }
  // The same of operations that it found complete.
  void note_completion(Slot& slot, std::uint64_t operations) {
    const auto begun = slot.started.load(std::memory_order_relaxed);
    auto done = slot.completed.load(std::memory_order_relaxed) + operations;
    // Of one thread alone its own counters say that nothing is pending; what completes beyond that started unseen.
    if (done >= begun && !several_.load(std::memory_order_relaxed)) {
      done = begun;
      settle(slot.weight.load(std::memory_order_relaxed));
    }
    slot.completed.store(done, std::memory_order_release);
  }
  // More than any limit of needs_progress(); 2^39 operations until the sign of a difference turns.
  static constexpr std::uint64_t unbounded = 1U << 24;

  // Whether something is pending that weighs more than `limit`, or anything at all if that is 0.
  //
  // A completion does not tell which start it belongs to (to remember each request would cost every call a table), so
  // that weights add up until nothing is pending, and then count no more. A program's only thread finds that out with
  // each completion; of several, who looks: the engine's thread, or, while that is parked, each call of the program.
  // What is found too late costs some needless polls.
  //
  // The weight is read first: if nothing is pending then, all that was weighed has completed.
  bool needs_progress(std::int64_t limit) const {
    if (limit == 0) return pending() > 0;
    const auto weight = sum(&Slot::weight);
    if (pending() == 0) {
      settle(weight);
      return false;
    }
    return static_cast<std::int64_t>(weight - settled_.load(std::memory_order_relaxed)) > limit;
  }
  // Whether needs_progress() can hold, or somebody else wants progress: false only if neither does. By the thread of
  // this slot, in each call while the engine's thread is parked: of a program's only thread four loads say it.
  bool may_need_progress(const Slot& slot, std::int64_t limit) const {
    if (limit == 0 || several_.load(std::memory_order_relaxed) || progress_users() > 0) return true;
    const auto weight = slot.weight.load(std::memory_order_relaxed);
    return static_cast<std::int64_t>(weight - settled_.load(std::memory_order_relaxed)) > limit;
  }
  bool anyone_inside() const { return anyone<&Slot::inside>(); }
  bool anyone_in_call() const { return anyone<&Slot::in_call>(); }
  std::uint64_t started() const { return sum(&Slot::started); }
  std::uint64_t completed() const { return sum(&Slot::completed); }
  // Of what was started: each operation that needs progress weighs `unbounded`.
  std::uint64_t weight() const { return sum(&Slot::weight); }
  std::uint64_t long_messages() const { return sum(&Slot::long_messages); }
  std::uint64_t rings() const { return sum(&Slot::rings); }
  std::uint64_t window_operations() const { return sum(&Slot::window_operations); }
  Nanoseconds window_wait() const { return static_cast<Nanoseconds>(sum(&Slot::window_wait)); }

  // By a thread that has left MPI, before it asks whether another one is inside: of two that leave together, at least
  // one then sees the other outside. One thread alone has nobody to miss, and pays nothing.
  void order_leaving() const {
    if (several_.load(std::memory_order_relaxed)) Atomics::full_fence();
  }

  // What needs progress though no operation of this process is pending: a window that others reach into, a thread that
  // sleeps until the engine moves its message. (Open MPI counts them so: opal_progress_event_users_increment.) Rare, so
  // that one counter does.
  void add_progress_user() {
    added_.fetch_add(1, std::memory_order_relaxed);
    progress_users_.fetch_add(1, std::memory_order_release);
  }
  void remove_progress_user() { progress_users_.fetch_sub(1, std::memory_order_release); }
  std::int64_t progress_users() const { return progress_users_.load(std::memory_order_acquire); }
  // Progress now is for those who reach into a window here: nothing of the program's own is pending, nobody waits.
  bool only_others_wait() const { return progress_users() > 0 && pending() == 0 && !anyone_in_call(); }
  // How many there ever were.
  std::uint64_t progress_users_added() const { return added_.load(std::memory_order_relaxed); }

 private:
  template <typename T>
  using Atomic = Atomics::template Atomic<T>;

  void settle(std::uint64_t weight) const {
    if (settled_.load(std::memory_order_relaxed) != weight) settled_.store(weight, std::memory_order_relaxed);
  }
  Slot& take_slot();
  template <bool (Slot::*holds)() const>
  bool anyone() const {
    for (const Slot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next)
      if ((slot->*holds)()) return true;
    return false;
  }
  std::uint64_t sum(Atomic<std::uint64_t> Slot::* counter) const {
    std::uint64_t total = 0;
    for (const Slot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next)
      total += (slot->*counter).load(std::memory_order_acquire);
    return total;
  }

  Atomic<Slot*> first_{nullptr};
  Atomic<std::int64_t> progress_users_{0};
  Atomic<std::uint64_t> added_{0};
  mutable Atomic<std::uint64_t> unseen_{0};   // operations of which the end was seen alone
  mutable Atomic<std::uint64_t> settled_{0};  // the weight when nothing was pending last, as far as seen
  Atomic<int> threads_{0};                    // of the program's that ever had a slot
  Atomic<bool> several_{false};               // more than one of them
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

// Where engine threads sleep until there is work. Ringing costs one load while nobody is parked.
//
// No wake-up is lost: the sleeper publishes that it parks, fences, and looks for work again; the ringer publishes its
// work, fences, and looks for a sleeper. Every sleep is bounded all the same. Any number may sleep and ring.
//
// The sleeper's fence interrupts every other CPU on which the program runs, 63 of them under a process with 64 OpenMP
// threads. So a short sleep goes without: what it may miss is a ringer whose store was still on its way to the memory
// when it looked, which takes some nanoseconds of its time, and the price of that is the sleep's bound. It must not be
// the price of a long sleep: before that comes the fence.
template <typename Atomics>
class BasicParking {
 public:
  // Sleeps until rung, unless `has_work()` holds; at most for `bound`. True if it really slept.
  template <typename HasWork>
  bool park(HasWork&& has_work, Nanoseconds bound) {
    const std::uint32_t seen = word_.fetch_or(parked, std::memory_order_relaxed) | parked;
    Atomics::heavy_fence();
    if (has_work()) return false;  // others may sleep here: the mark is the ringer's to take back
    Atomics::wait(word_, seen, bound);
    return true;
  }

  // The same for at most `bound`, up to longest_nap, without the fence. True once it was rung or there is work; false
  // where neither shows: then park().
  template <typename HasWork>
  bool nap(HasWork&& has_work, Nanoseconds bound = longest_nap) {
    const std::uint32_t seen = word_.fetch_or(parked, std::memory_order_relaxed) | parked;
    Atomics::full_fence();
    if (has_work()) return true;
    Atomics::wait_briefly(word_, seen, std::min(bound, longest_nap));
    return word_.load(std::memory_order_relaxed) != seen || has_work();
  }
  static constexpr Nanoseconds longest_nap = microseconds(1000);

  // The same, but without giving up the CPU: `wait(word, seen, bound)` waits for a store to the word
  // (wait/user_wait.hpp).
  template <typename HasWork, typename Wait>
  bool watch(HasWork&& has_work, Wait&& wait, Nanoseconds bound) {
    const std::uint32_t seen = word_.fetch_or(watched, std::memory_order_relaxed) | watched;
    if (bound > longest_nap)
      Atomics::heavy_fence();
    else
      Atomics::full_fence();
    if (has_work()) return false;
    wait(word_, seen, bound);
    return true;
  }

  // The next ring is asked for, though nobody sleeps.
  void ask() { word_.fetch_or(watched, std::memory_order_relaxed); }

  // May be true when the last one has just left; false only if a ring would reach nobody.
  bool anyone() const { return (word_.load(std::memory_order_relaxed) & anybody) != 0; }

  // Publish the work (and light_fence) first.
  void ring() {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & anybody) != 0)
      if (word_.compare_exchange_weak(seen, (seen & ~anybody) + one_ring, std::memory_order_relaxed)) {
        if ((seen & parked) != 0) Atomics::wake(word_);  // the store alone wakes those who watch
        return;
      }
  }

 private:
  // The lowest bits; the others count the rings, so that one who is about to sleep sees that it was rung even if
  // another one has parked since.
  static constexpr std::uint32_t parked = 1;
  static constexpr std::uint32_t watched = 2;
  static constexpr std::uint32_t anybody = parked | watched;
  static constexpr std::uint32_t one_ring = anybody + 1;
  alignas(128) Atomics::Word word_{0};
};

using ThreadSlot = BasicThreadSlot<RealAtomics>;
using Activity = BasicActivity<RealAtomics>;
using Parking = BasicParking<RealAtomics>;

}  // namespace progress_engine
