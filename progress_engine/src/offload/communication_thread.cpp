// SPDX-License-Identifier: BSD-3-Clause
#include "offload/communication_thread.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "core/activity.hpp"
#include "offload/ult.hpp"
#include "offload/waiter.hpp"
#include "platform/platform.hpp"
#include "platform/scheduling.hpp"

namespace progress_engine::offload {
namespace {

__attribute__((tls_model("initial-exec"))) thread_local bool is_communication_thread = false;

constexpr Nanoseconds first_nap = microseconds(50);
// With nothing pending the naps grow: the MPI's own housekeeping needs little, and quiet is the promise.
constexpr Nanoseconds longest_idle_nap = microseconds(128000);
constexpr Nanoseconds between_looks = microseconds(10000);
// Once it has stood down; bounded as every sleep is.
constexpr Nanoseconds longest_rest = seconds(1);
constexpr int commands_a_turn = 64;
// A stand-in that has not been back for so long computes, or has ended; looked at so often.
constexpr Nanoseconds stand_in_is_gone = microseconds(100);
constexpr Nanoseconds between_looks_at_stand_in = microseconds(500);

}  // namespace

bool on_communication_thread() { return is_communication_thread; }
StandIn::StandIn() { is_communication_thread = true; }
StandIn::~StandIn() { is_communication_thread = false; }

CommunicationThread::CommunicationThread(const CommunicationThreadPolicy& policy, std::unique_ptr<EventSource> events)
    : policy_(policy), events_(std::move(events)), queue_(policy.queue) {}

CommunicationThread::~CommunicationThread() = default;

void CommunicationThread::start() {
  prepare_fences();
  thread_ = start_engine_thread("pe-offload", [this] { enter(); });
}

void CommunicationThread::enter() {
  is_communication_thread = true;
  tid_ = gettid();
  place_this_thread(policy_.placement);
  slice_ = schedule_this_thread(policy_.scheduling).value_or(0);
  run();
  final_usage_ = usage_of_thread(gettid());
  ended_.store(true, std::memory_order_release);
}

bool CommunicationThread::stop(Nanoseconds limit) {
  stopping_ = true;
  events_->interrupt();
  if (asleep_.exchange(0) != 0) futex_wake(asleep_);
  return join_engine_thread(thread_, limit);
}

void CommunicationThread::pause(Nanoseconds limit) {
  paused_ = true;
  if (on_communication_thread()) return;  // an error handler of the MPI's ends the process
  for (const Nanoseconds end = now() + limit; driving_.load() && now() < end;) sched_yield();
}

bool CommunicationThread::is_this_thread() const { return tid_.load(std::memory_order_relaxed) == gettid(); }

ThreadUsage CommunicationThread::usage() const {
  return ended_.load(std::memory_order_acquire) ? final_usage_ : usage_of_thread(tid_);
}

void CommunicationThread::run() {
  while (true) {
    if (stood_in_for_.load(std::memory_order_relaxed) != 0) leave_to_stand_in();
    if (drive()) {
      fruitless_ = 0;
      fruitless_since_ = 0;
      next_nap_ = first_nap;
    } else if (stopping_.load(std::memory_order_relaxed)) {
      return;
    } else {
      rest();
    }
  }
}

template <typename Work>
auto CommunicationThread::exclusively(Work work) {
  while (driving_.exchange(true, std::memory_order_acquire)) sched_yield();  // a stand-in is about to end its pass
  const auto result = work();
  driving_.store(false, std::memory_order_release);
  return result;
}

bool CommunicationThread::drive() {
  return exclusively([this] {
    look_around();
    const bool served = serve(false);
    return advance() || served;
  });
}

CommunicationThread::Left CommunicationThread::left() {
  return exclusively([this] {
    if (!progress_ || paused_.load()) return Left{false, false};
    const bool pending = progress_->pending();
    return Left{pending, pending || progress_->exposed()};
  });
}

void CommunicationThread::nudge() {
  exclusively([this] {
    if (progress_ && !paused_.load()) progress_->nudge();
    return true;
  });
}

// While the program's threads do the work, traffic and commands must not wake this one: that is what it is for.
void CommunicationThread::leave_to_stand_in() {
  futex_wait(stood_in_for_, 1, between_looks_at_stand_in);
  if (now() - last_stand_in_.load(std::memory_order_relaxed) > stand_in_is_gone) stood_in_for_ = 0;
}

CommunicationThread::Pass CommunicationThread::stand_in(Nanoseconds time) {
  if (driving_.exchange(true, std::memory_order_acquire)) return Pass::idle;
  bool moved = false;
  bool refused = false;
  {
    const StandIn here;
    stood_in_for_.store(1, std::memory_order_relaxed);
    moved = serve(true);
    if (progress_ && progress_->pending()) moved = progress_->advance() || moved;  // unjudged: a clock costs as much
    const Command* next = queue_.front();
    refused = next && !next->brief;
    add(counters_.stand_ins, 1);
    last_stand_in_.store(time, std::memory_order_relaxed);
  }
  driving_.store(false, std::memory_order_release);
  if (refused) {
    end_stand_in();
    return Pass::refused;
  }
  return moved ? Pass::moved : Pass::idle;
}

void CommunicationThread::end_stand_in() {
  if (stood_in_for_.exchange(0) != 0) futex_wake(stood_in_for_);
  rouse();
}

// False if the communication thread stays in its pass for longer: then it sits in a call that blocks.
bool CommunicationThread::enter_soon() {
  constexpr int rounds = 128;
  constexpr int rounds_a_turn = 32;  // it may have lost its core to this thread
  for (int round = 0; round < rounds; ++round) {
    if (!driving_.load(std::memory_order_relaxed) && !driving_.exchange(true, std::memory_order_acquire)) return true;
    if (round % rounds_a_turn == rounds_a_turn - 1)
      sched_yield();
    else
      relax_cpu();
  }
  return false;
}

// What was handed over before comes first. Not `mine` if something is left that only the communication thread may do.
CommunicationThread::Turn CommunicationThread::begin_turn() {
  const StandIn here;
  const bool served = serve(true);
  const bool mine = queue_.front() == nullptr;
  add(counters_.turns, mine ? 1 : 0);
  return {mine, served};
}

// What was started meanwhile must not wait for the end of a long sleep.
void CommunicationThread::end_turn(bool served) {
  driving_.store(false, std::memory_order_release);
  if (served) rouse();
}

// Before the commands that came meanwhile: if it stands down they are the last ones here.
void CommunicationThread::look_around() {
  if (!look_) return;
  const Nanoseconds time = now();
  if (time - looked_around_ < between_looks) return;
  looked_around_ = time;
  if (look_()) look_ = nullptr;
}

void CommunicationThread::stand_down() {
  wait_policy().communication_cpu = -1;
  wait_policy().stood_down = this;
  stood_down_ = true;
  next_nap_ = first_nap;
  if (progress_) progress_->rouse_waiters();
}

// After what other threads have handed over before they saw it, and this one perhaps with them.
void CommunicationThread::execute_here(Command& command) {
  exclusively([&] {
    const StandIn here;
    while (serve(false)) {
    }
    add(counters_.commands, 1);
    command.execute(command);
    return true;
  });
}

void CommunicationThread::work_once() {
  if (!enter_soon()) return;
  {
    const StandIn here;
    add(counters_.stand_ins, 1);
    if (progress_ && progress_->pending())
      progress_->advance();
    else if (progress_)
      progress_->nudge();
  }
  driving_.store(false, std::memory_order_release);
}

// A bounded number of commands: what is pending must be advanced in between.
bool CommunicationThread::serve(bool only_brief) {
  int served = 0;
  while (served < commands_a_turn) {
    const Command* next = queue_.front();
    if (!next || (only_brief && !next->brief)) break;
    Command* command = queue_.pop();
    paused_.store(false, std::memory_order_relaxed);
    command->execute(*command);
    ++served;
  }
  add(counters_.commands, static_cast<std::uint64_t>(served));
  // Whoever served them: who waits for what they have started may sleep, and must make the progress by itself.
  if (served > 0 && stood_down() && progress_) progress_->rouse_waiters();
  return served > 0;
}

// A pass that completes nothing may still have moved bytes: it takes longer than one that finds nothing.
bool CommunicationThread::advance() {
  if (!progress_ || stood_down() || paused_.load(std::memory_order_relaxed) || !progress_->pending()) return false;
  add(counters_.passes, 1);
  const Nanoseconds begin = now();
  const bool completed = progress_->advance();
  const bool productive = judge_.productive(now() - begin);
  return completed || productive;
}

void CommunicationThread::rest() {
  if (stood_down()) {
    rest_for_good();
    return;
  }
  const Nanoseconds time = now();
  if (fruitless_++ == 0) {
    fruitless_since_ = time;
    wait_policy().communication_cpu.store(sched_getcpu(), std::memory_order_relaxed);
  }
  if (policy_.sleeps && fruitless_ >= policy_.burst && !spins(time))
    nap();
  else if (policy_.shares_cpu && (adaptive_spin_.may_spin() || !policy_.sleeps))
    adaptive_spin_.let_others_run([this] { return !queue_.empty(); });
  else if (time - fruitless_since_ >= policy_.spin)
    sched_yield();
}

// Whose command is in the queue but was not seen here sees that this thread sleeps, see submit(). A waiter that was
// between its last look and its sleep when it was roused has missed that: all are roused again, less and less often.
void CommunicationThread::rest_for_good() {
  asleep_.store(1, std::memory_order_seq_cst);
  heavy_fence();
  while (asleep_.load() != 0 && queue_.empty() && !stopping_.load()) {
    futex_wait(asleep_, 1, next_nap_);
    next_nap_ = std::min(2 * next_nap_, longest_rest);
    rouse_again();
  }
  asleep_.store(0, std::memory_order_relaxed);
}

void CommunicationThread::rouse_again() {
  if (!enter_soon()) return;
  if (progress_) progress_->rouse_waiters();
  driving_.store(false, std::memory_order_release);
}

bool CommunicationThread::spins(Nanoseconds time) const {
  if (policy_.shares_cpu && !adaptive_spin_.may_spin()) return false;
  const Nanoseconds fruitless = time - fruitless_since_;
  return fruitless < policy_.spin || (fruitless < policy_.awaited_spin && somebody_waits());
}

void CommunicationThread::nap() {
  look_for_connections();
  asleep_.store(1, std::memory_order_seq_cst);
  heavy_fence();
  const auto [pending, bounded] = left();  // not earlier: who leaves something from here on wakes this thread
  const Nanoseconds most = bounded ? policy_.longest_nap : longest_idle_nap;
  const Nanoseconds longest = look_ ? std::min(most, between_looks) : most;
  next_nap_ = std::min(next_nap_, longest);
  const bool armed = arm();
  if (!armed) next_nap_ = first_nap;
  if (armed && queue_.empty() && !stopping_.load(std::memory_order_relaxed)) {
    add(counters_.naps, 1);
    sleep(pending && !somebody_sleeps_or_spins() && !CallBeside::any());
  }
  asleep_.store(0, std::memory_order_relaxed);
  next_nap_ = std::min(2 * next_nap_, longest);
  fruitless_ = 0;
  if (!pending) nudge();
}

// Of a fabric's library: what comes from now on ends the nap. False if there is something to poll for.
bool CommunicationThread::arm() {
  return exclusively([this] {
    if (!progress_ || paused_.load()) return true;
    const auto poll = [this] {
      if (progress_->pending())
        progress_->advance();
      else
        progress_->nudge();
      return true;
    };
    return events_->arm(poll).armed;
  });
}

// `beside`: while the program computes and something is pending.
void CommunicationThread::sleep(bool beside) {
  const Nanoseconds begin = now();
  const Nanoseconds used = policy_.shares_cpu ? cpu_time_of_this_process() : 0;
  if (events_->wait(next_nap_)) {
    next_nap_ = first_nap;
    add(counters_.traffic, 1);
  }
  if (beside)
    counters_.beside.store(counters_.beside.load(std::memory_order_relaxed) + now() - begin, std::memory_order_relaxed);
  if (policy_.shares_cpu) adaptive_spin_.slept(now() - begin, cpu_time_of_this_process() - used);
}

// Connections come and go. Looking costs more than a message does.
void CommunicationThread::look_for_connections() {
  const Nanoseconds time = now();
  if (time - looked_ < between_looks) return;
  looked_ = time;
  events_->refresh();
}

void CommunicationThread::wake() {
  if (asleep_.exchange(0) == 0) return;
  counters_.rings.fetch_add(1, std::memory_order_relaxed);
  if (stood_down_.load())
    futex_wake(asleep_);
  else
    events_->interrupt();
}

// A user-level thread lets others run: the one that must run may be on the same kernel thread.
void CommunicationThread::push_until_taken(Command& command) {
  counters_.full.fetch_add(1, std::memory_order_relaxed);
  do {
    if (asleep_.load()) wake();
    if (ult_adapter() && is_user_level_thread())
      ult_adapter()->yield();
    else
      sched_yield();
  } while (!queue_.push(&command));
}

}  // namespace progress_engine::offload
