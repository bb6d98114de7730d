// SPDX-License-Identifier: BSD-3-Clause
#include "offload/waiter.hpp"

#include <sched.h>

#include <cstddef>

#include "offload/communication_thread.hpp"
#include "offload/ult.hpp"
#include "platform/platform.hpp"

namespace progress_engine::offload {
namespace {

std::atomic<int> spinners{0};
std::atomic<int> sleepers{0};
std::atomic<bool> test_in_vain{false};

class SpinningTurn {
 public:
  SpinningTurn() : granted_(spinners.fetch_add(1, std::memory_order_relaxed) < wait_policy().spinners_at_most) {}
  ~SpinningTurn() { spinners.fetch_sub(1, std::memory_order_relaxed); }
  SpinningTurn(const SpinningTurn&) = delete;
  SpinningTurn& operator=(const SpinningTurn&) = delete;
  explicit operator bool() const { return granted_; }

 private:
  bool granted_;
};

bool communication_runs_here() {
  return wait_policy().communication_cpu.load(std::memory_order_relaxed) == sched_getcpu();
}

// Null on that thread and on one that stands in for it: what those wait for, another thread does.
CommunicationThread* who_has_stood_down() {
  return on_communication_thread() ? nullptr : wait_policy().stood_down.load(std::memory_order_acquire);
}

}  // namespace

WaitPolicy& wait_policy() {
  static WaitPolicy policy;
  return policy;
}

bool somebody_sleeps_or_spins() {
  return spinners.load(std::memory_order_relaxed) + sleepers.load(std::memory_order_relaxed) > 0;
}

bool somebody_waits() { return somebody_sleeps_or_spins() || take_test_in_vain(); }

bool take_test_in_vain() {
  return test_in_vain.load(std::memory_order_relaxed) && test_in_vain.exchange(false, std::memory_order_relaxed);
}

void tested_in_vain() {
  if (!test_in_vain.load(std::memory_order_relaxed)) test_in_vain.store(true, std::memory_order_relaxed);
}

void Waiter::signal() {
  const std::uint32_t before = word_.fetch_sub(unit, std::memory_order_acq_rel);
  if (left(before) != 1) return;
  // From here on the waiter is gone unless it sleeps as a user-level thread, which only the gate lets go. Waking a word
  // on a stack that was left is harmless: the kernel looks at the address, not at what is there.
  switch (before & (unit - 1)) {
    case kernel_thread:
      futex_wake(word_);
      break;
    case user_thread:
      ult_adapter()->gate_open(gate_);
      break;
    default:
      break;
  }
}

void Waiter::wait() {
  if (CommunicationThread* const thread = who_has_stood_down())
    work_for(*thread);
  else if (is_user_level_thread())
    suspend();
  else if (!spin())
    sleep();
}

bool Waiter::spin() const {
  const SpinningTurn turn;
  if (!turn) return ready();
  const Nanoseconds end = now() + wait_policy().spin.load(std::memory_order_relaxed);
  for (int round = 0; !ready(); ++round) {
    relax_cpu();
    if (round % 32 != 31) continue;
    if (now() > end || communication_runs_here()) return ready();
  }
  return true;
}

void Waiter::sleep() {
  sleepers.fetch_add(1, std::memory_order_relaxed);
  std::uint32_t word = word_.fetch_add(kernel_thread, std::memory_order_acq_rel) + kernel_thread;
  while (left(word) > 0) {
    if (CommunicationThread* const thread = who_has_stood_down()) {
      work_for(*thread);
      break;
    }
    // Bounded, as every sleep is: a lost wake-up would cost time, not the program.
    futex_wait(word_, word, seconds(1));
    word = word_.load(std::memory_order_acquire);
  }
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

// As in the MPI itself, whose calls wait so: with a turn for others at each pass.
void Waiter::work_for(CommunicationThread& thread) const {
  const bool is_user_level = is_user_level_thread();
  while (!ready()) {
    thread.work_once();
    if (ready()) return;
    if (is_user_level && ult_adapter())
      ult_adapter()->yield();
    else
      sched_yield();
  }
}

// One at a time does the communication thread's work until its own wait is over, or nothing moves for a while. The
// others get their turn at each pass; if they compute, messages would wait for them, and the communication thread,
// which traffic wakes, is better. True if the wait is over.
bool Waiter::lead() const {
  constexpr Nanoseconds timeout = microseconds(200);
  constexpr Nanoseconds turn_of_those_who_compute = microseconds(500);
  constexpr Nanoseconds pause = microseconds(10000);
  static std::atomic<bool> somebody_leads{false};
  static std::atomic<Nanoseconds> not_before{0};
  CommunicationThread* const thread = wait_policy().stand_in_for.load(std::memory_order_acquire);
  if (!thread) return ready();
  Nanoseconds time = now();
  if (time < not_before.load(std::memory_order_relaxed) || somebody_leads.exchange(true, std::memory_order_acquire))
    return ready();
  auto pass = CommunicationThread::Pass::idle;
  for (Nanoseconds moved = time; !ready() && pass != CommunicationThread::Pass::refused && time - moved < timeout;) {
    pass = thread->stand_in(time);
    if (pass == CommunicationThread::Pass::moved) moved = time;
    if (ready()) break;
    ult_adapter()->yield();
    const Nanoseconds before = time;
    time = now();
    if (time - before < turn_of_those_who_compute) continue;
    not_before.store(time + pause, std::memory_order_relaxed);
    break;
  }
  somebody_leads.store(false, std::memory_order_release);
  if (!ready()) thread->end_stand_in();
  return ready();
}

// No thread-local value may be kept across gate_wait() and yield().
void Waiter::suspend() {
  const pe_ult_adapter& adapter = *ult_adapter();
  if (ult_waiting() == UltWaiting::reinsert) {
    while (!ready()) adapter.yield();
    return;
  }
  if (ult_waiting() == UltWaiting::lead ? lead() : ready()) return;
  alignas(std::max_align_t) std::byte gate[PE_ULT_GATE_SIZE];
  adapter.gate_init(gate);
  gate_ = gate;
  const std::uint32_t before = word_.fetch_add(user_thread, std::memory_order_acq_rel);
  if (left(before) > 0)
    count_suspension();
  else
    adapter.gate_open(gate);  // nobody else will
  adapter.gate_wait(gate);
}

void Waiter::drain(int signals) const {
  while (started_at_ - left(word_.load(std::memory_order_acquire)) < signals) sched_yield();
}

}  // namespace progress_engine::offload
