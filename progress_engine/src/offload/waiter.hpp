// SPDX-License-Identifier: BSD-3-Clause
// How a thread of the program waits for what the communication thread does: kernel threads spin for a while and then
// sleep; user-level threads give their core to others.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"

namespace progress_engine::offload {

class CommunicationThread;

// How waiting goes in this process; set before the first wait, read by all threads.
struct WaitPolicy {
  std::atomic<Nanoseconds> spin{20000};
  std::atomic<int> spinners_at_most{1};    // more would only take the cores that those need who are waited for
  std::atomic<int> communication_cpu{-1};  // where the communication thread was last: nobody spins in its way
  std::atomic<CommunicationThread*> stand_in_for{
      nullptr};  // whose work user-level threads that wait may do; null: nobody's
  std::atomic<CommunicationThread*> stood_down{nullptr};  // whose work all that wait do, for good; null: nobody's
};
WaitPolicy& wait_policy();

// Whether a kernel thread of the program waits at this moment, or one has tested in vain since this was asked last. By
// the communication thread.
bool somebody_waits();
// The former alone.
bool somebody_sleeps_or_spins();
// A thread of the program has asked for something that is not complete, and will ask again.
void tested_in_vain();
// Whether one has since this or somebody_waits() was asked last.
bool take_test_in_vain();

// One wait of one thread, on its stack. Counts signals.
class Waiter {
 public:
  // wait() returns after `needed` signals, needed >= 1.
  explicit Waiter(int needed) : word_(static_cast<std::uint32_t>(needed) * unit) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // From any thread. The waiter may be gone as soon as the last signal that it expects is counted.
  void signal();
  // Once, by the owner. A user-level thread may be on another kernel thread afterwards.
  void wait();
  // From any thread, also when the waiter is gone: it looks whether it has to work for itself.
  void rouse() { futex_wake(word_); }
  // Returns once `signals` have come, which are under way: the sender is between two instructions.
  void drain(int signals) const;

 private:
  // The word: signals still needed (negative: more came than were) * unit + who is to be woken.
  enum Sleeper : std::uint32_t { nobody = 0, kernel_thread = 1, user_thread = 2 };
  static constexpr std::uint32_t unit = 4;
  static int left(std::uint32_t word) { return static_cast<int>(word) >> 2; }

  bool ready() const { return left(word_.load(std::memory_order_acquire)) <= 0; }
  bool spin() const;
  void sleep();
  bool lead() const;
  void suspend();
  void work_for(CommunicationThread& thread) const;

  std::atomic<std::uint32_t> word_;  // a futex
  int started_at_ = left(word_.load(std::memory_order_relaxed));
  void* gate_ = nullptr;
};

// What is waited for: pending, then done for good (until reset). At most one waiter at a time, as MPI allows at most
// one thread to wait for a request.
class Completion {
 public:
  bool done() const { return word_.load(std::memory_order_acquire) == done_word; }
  void reset() { word_.store(pending_word, std::memory_order_relaxed); }
  // Whether a thread waits for it, at this moment.
  bool awaited() const { return word_.load(std::memory_order_relaxed) > done_word; }

  // The waiter gets one signal when it is done. False, and none, if it is done already.
  bool attach(Waiter& waiter) {
    std::uintptr_t expected = pending_word;
    return word_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&waiter), std::memory_order_release,
                                         std::memory_order_acquire);
  }
  // False if it was done meanwhile: then the signal has come or is about to.
  bool detach(Waiter& waiter) {
    auto expected = reinterpret_cast<std::uintptr_t>(&waiter);
    return word_.compare_exchange_strong(expected, pending_word, std::memory_order_relaxed, std::memory_order_acquire);
  }

  // By whoever completes it; what it wrote before is visible to those who find it done.
  void complete() {
    const auto before = word_.exchange(done_word, std::memory_order_acq_rel);
    if (before != pending_word && before != done_word) reinterpret_cast<Waiter*>(before)->signal();
  }

  // By whoever could complete it.
  void rouse_waiter() {
    const auto word = word_.load(std::memory_order_relaxed);
    if (word > done_word) reinterpret_cast<Waiter*>(word)->rouse();
  }

  // Waits until it is done.
  void wait() {
    if (done()) return;
    Waiter waiter(1);
    if (attach(waiter)) waiter.wait();
  }

 private:
  static constexpr std::uintptr_t pending_word = 0;
  static constexpr std::uintptr_t done_word = 1;
  std::atomic<std::uintptr_t> word_{pending_word};
};

}  // namespace progress_engine::offload
