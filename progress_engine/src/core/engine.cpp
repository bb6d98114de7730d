// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "platform/breakable.hpp"
#include "platform/scheduling.hpp"

namespace progress_engine {

namespace {

constexpr int nicest = 19;

}  // namespace

Engine::Engine(Policy policy, std::unique_ptr<ProgressFunction> progress, std::unique_ptr<EventSource> events,
               std::unique_ptr<Doorbell> doorbell)
    : policy_(std::move(policy)),
      progress_function_(std::move(progress)),
      events_(std::move(events)),
      doorbell_(std::move(doorbell)),
      placement_(policy_) {
  const auto& points = policy_.points;
  if (points.dedicated) add_worker("progress", run_dedicated);
  if (points.events) add_worker("progress", run_events);
  if (points.timer) add_worker("timer", run_timer);
  if (points.idle) add_worker("idle", run_idle, true);
}

Engine::~Engine() = default;

void Engine::add_worker(const char* role, Worker::Loop loop, bool idle_class) {
  auto worker = std::make_unique<Worker>();
  worker->engine = this;
  worker->role = role;
  worker->loop = loop;
  worker->idle_class = idle_class;
  workers_.push_back(std::move(worker));
}

// While something is pending a dedicated thread pauses with a timer alone: mwait keeps the CPU.
bool Engine::polls_without_pause() const {
  return policy_.points.idle || (policy_.points.dedicated && policy_.wait != Wait::timer);
}

void Engine::start() {
  refuse_beside_real_time(polls_without_pause());
  prepare_fences();
  more_after_calls_ = policy_.points.on_calls || policy_.trial_ms > 0 || light_fence_is_full;
  if (policy_.trigger != Trigger::always) wake_limit_ = eager_bytes_in_all(policy_);
  note_phase();
  avoid_priority_inversion();
  for (auto& worker : workers_) {
    try {
      launch(*worker);
    } catch (...) {
      stop(seconds(1));
      throw;
    }
  }
}

// A thread of the idle class that cannot be lifted keeps the MPI's locks for seconds beside a busy program. The nicest
// of the normal class always gets some of the CPU.
void Engine::avoid_priority_inversion() {
  const auto is_idle = [](const auto& worker) { return worker->idle_class; };
  if (std::ranges::none_of(workers_, is_idle) || can_lift_from_idle_class()) return;
  for (auto& worker : workers_) {
    if (!std::exchange(worker->idle_class, false)) continue;
    worker->nicest = true;
    worker->role = "nice";
  }
}

void Engine::launch(Worker& worker) {
  worker.tid = -1;  // the thread itself knows the number, and may be faster than whoever makes it
  worker.waits_for_loader = true;
  try {
    worker.thread = start_engine_thread("pe-progress", [&worker] { enter(worker); });
  } catch (...) {
    worker.tid = 0;
    throw;
  }
}

void Engine::enter(Worker& worker) {
  const auto& policy = worker.engine->policy_;
  worker.slice =
      schedule_this_thread({worker.idle_class, worker.idle_class ? 0 : policy.slice_us, worker.nicest ? nicest : 0})
          .value_or(0);
  const auto guarded = [&worker](auto work) {
    try {
      work();
    } catch (const std::exception& error) {
      worker.engine->give_up(worker, error.what());
    }
  };
  guarded([&] {
    worker.cpus = place_this_thread(worker.engine->placement_);
    worker.tid = gettid();
    // Inside the MPI it may need the loader, and the program would wait for the MPI while the loader waits for it.
    wait_for_loader();
    worker.waits_for_loader = false;
    worker.loop(*worker.engine, worker);
  });
  guarded([&] { worker.final_usage = usage_of_thread(gettid()); });
  worker.ended.store(true, std::memory_order_release);
}

// Out of a thread nothing may be thrown: it would end the program. Calls that must run beside no poll wait for nobody.
void Engine::give_up(Worker& worker, const char* why) {
  forbid();
  Worker* holder = &worker;
  poller_.compare_exchange_strong(holder, nullptr);
  std::fprintf(stderr, "progress engine: a thread of the engine's failed: %s; the program goes on without it.\n", why);
}

// MPI_Finalize may be under way in one thread while another calls exit: a thread is joined once.
bool Engine::stop(Nanoseconds limit) {
  const Nanoseconds end = now() + limit;
  phases_.end(now(), activity_.completed());
  stopping_ = 1;
  futex_wake(stopping_);
  parking_.ring();
  if (events_) events_->interrupt();
  if (doorbell_) doorbell_->ring_own();
  std::unique_lock lock(ends_, std::defer_lock);
  if (!tried_until(end, [&] { return lock.try_lock(); })) return false;
  bool all = true;
  const bool loading = is_inside_loader();
  for (auto& worker : workers_) {
    if (worker->tid == 0) continue;                              // never started
    const bool may_end = !loading || !worker->waits_for_loader;  // else only when this thread has left the loader
    if (may_end && join_engine_thread(worker->thread, end - now()))
      worker->tid.store(0);
    else
      all = false;
  }
  return all;
}

void Engine::pause() {
  paused_ = true;
  note_phase();
}

void Engine::resume() {
  if (forbidden_) return;
  paused_ = false;
  note_phase();
  parking_.ring();
}

// By wall-clock time, so that all ranks take the same turns.
void Engine::take_turn() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  const auto turn =
      static_cast<std::uint64_t>((seconds(time.tv_sec) + time.tv_nsec) / microseconds(1000) / policy_.trial_ms);
  if (turn_.exchange(turn, std::memory_order_relaxed) == turn) return;
  disarmed_ = !is_armed_turn(turn);
  note_phase();
  parking_.ring();
}

bool Engine::may_poll() const {
  if (paused() || (exclusive_sections_.load(std::memory_order_seq_cst) > 0 && !broken("file-calls-alone")))
    return false;
  if (policy_.trigger == Trigger::always) return true;
  if (policy_.trigger == Trigger::outside && activity_.anyone_inside() && !broken("suspending")) return false;
  return activity_.progress_users() > 0 || activity_.needs_progress(eager_bytes_in_all(policy_));
}

void Engine::account(Worker& worker, const BurstResult& result) {
  add(worker.polls, result.polls);
  add(worker.productive_polls, result.productive);
  progress_function_->after_burst(result, activity_.completed());
}

// One poller at a time: two would only wait for each other inside the MPI.
bool Engine::take_progress_function(Worker& worker) {
  Worker* holder = nullptr;
  // In one order with exclusive_sections_: either the poller sees the section, or who is in it sees the poller.
  if (poller_.compare_exchange_strong(holder, &worker, std::memory_order_seq_cst)) return true;
  if (!worker.idle_class) lift_if_idle(*holder);
  return false;
}

// An idle thread that lost its core inside the MPI holds the MPI's locks; it must run to give them back.
void Engine::lift_if_idle(Worker& holder) {
  if (holder.idle_class && !broken("lifting") && !holder.lifted.exchange(true))
    lift_from_idle_class(holder.tid, policy_.slice_us);
}

void Engine::begin_exclusive() {
  exclusive_sections_.fetch_add(1, std::memory_order_seq_cst);
  for (int rounds = 0; Worker* holder = poller_.load(std::memory_order_seq_cst); RealAtomics::relax(rounds++)) {
    if (broken("file-calls-alone")) return;
    lift_if_idle(*holder);
  }
}

void Engine::return_progress_function(Worker& worker) {
  poller_.store(nullptr, std::memory_order_release);
  if (worker.lifted.exchange(false)) return_to_idle_class();
}

void Engine::arm(EventSource& events, BurstResult& result) {
  const auto before = fabric_steps;
  const auto armed = events.arm([this] {
    if (stopping() || !may_poll()) return false;
    progress_function_->poll();
    return true;
  });
  result.armed = armed.armed;
  result.steps += fabric_steps - before;
  result.polls += armed.polls;
  result.productive += armed.productive;
  result.productive_time += armed.productive_time;
}

BurstResult Engine::poll(Worker& worker, EventSource* events) {
  if (!take_progress_function(worker)) return {};
  const auto rung = doorbell_ ? doorbell_->own().take() : WakeupLine::Ring::none;
  if (rung != WakeupLine::Ring::none) add(worker.answers, 1);
  const bool for_others = activity_.only_others_wait();
  auto result = run_burst(*progress_function_, judge_, policy_.burst, [this] { return !stopping() && may_poll(); });
  if (events) arm(*events, result);
  if (for_others) add(worker.for_others, result.productive);
  result.awaited = rung == WakeupLine::Ring::coming;
  account(worker, result);
  return_progress_function(worker);
  if (doorbell_ && result.productive > 0) doorbell_->ring_partners();
  return result;
}

void Engine::wake_for_work() {
  if (policy_.trigger == Trigger::outside) activity_.order_leaving();
  if (!may_poll()) return;
  if (called() == 0) called_.store(now(), std::memory_order_relaxed);
  parking_.ring();
}

void Engine::do_more_after_call() {
  light_fence();
  if (parking_.anyone()) wake_for_work();
  if (policy_.points.on_calls) poll_from_call();
  if (policy_.trial_ms > 0) take_turn();
}

void Engine::poll_from_call() {
  if (!may_poll() || !take_progress_function(calls_)) return;
  account(calls_, run_burst(*progress_function_, judge_, 1, [this] { return !stopping() && may_poll(); }));
  return_progress_function(calls_);
}

// Of a turn that finds it so at one end alone, half is counted.
void Engine::observe(Worker& worker) {
  const Nanoseconds time = now();
  const bool beside = activity_.pending() > 0 && !activity_.anyone_in_call();
  const Nanoseconds halves = (beside ? 1 : 0) + (worker.was_beside ? 1 : 0);
  if (worker.observed > 0 && halves > 0)
    worker.beside.store(worker.beside.load(std::memory_order_relaxed) + halves * (time - worker.observed) / 2,
                        std::memory_order_relaxed);
  worker.was_beside = beside;
  worker.observed = time;
}

// Who was rung soon the last time naps first: of two parks with the fence, one at least lasts longer than a nap.
void Engine::park(Worker& worker) {
  add(worker.parks, 1);
  const auto has_work = [this] { return stopping() || may_poll(); };
  const Nanoseconds begin = now();
  if (!worker.naps_first || !parking_.nap(has_work)) {
    if (worker.naps_first) worker.woke(WakeSource::timer);
    add(worker.fences, 1);
    parking_.park(has_work, seconds(policy_.park_s));
  }
  worker.was_beside = false;  // a parked thread observes nothing
  worker.observed = now();
  const Nanoseconds took = worker.observed - begin;
  worker.naps_first = took < Parking::longest_nap;
  if (!stopping()) worker.woke(took < seconds(policy_.park_s) ? WakeSource::call : WakeSource::timer);
}

}  // namespace progress_engine
