// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/breakable.hpp"
#include "core/placement.hpp"
#include "core/scheduling.hpp"
#include "core/signals.hpp"
#include "polling/polling_points.hpp"

namespace progress_engine {

namespace {

constexpr int nicest = 19;

// What the kernel refuses is left as it was: the report tells where each thread may run.
void place(const Policy& policy) {
  Cpus cpus;
  if (policy.placement == Placement::list) cpus = parse_cpu_list(policy.cpus);
  if (policy.placement == Placement::spare) cpus = spare_cpus(allowed_cpus(0), cpus_of_neighbours());
  if (!cpus.empty()) bind_this_thread_to(cpus);
}

}  // namespace

Engine::Engine(Policy policy, std::unique_ptr<Driver> driver, std::unique_ptr<EventSource> events,
               std::unique_ptr<Doorbell> doorbell)
    : policy_(std::move(policy)),
      driver_(std::move(driver)),
      events_(std::move(events)),
      doorbell_(std::move(doorbell)) {
  const auto& points = policy_.points;
  if (points.dedicated) add_worker("progress", run_dedicated);
  if (points.events) add_worker("progress", run_events);
  if (points.timer) add_worker("timer", run_timer);
  for (int i = 0; points.idle && i < policy_.idle_threads; ++i) add_worker("idle", run_idle, true);
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

void Engine::start() {
  prepare_fences();
  more_after_calls_ = policy_.points.on_calls || policy_.trial_ms > 0 || light_fence_is_full;
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
  // The floating-point mode is inherited as well: pthread_create copies the creator's.
  const ProgramSignalsBlocked blocked;
  worker.tid = -1;  // the thread itself knows the number, and may be faster than whoever makes it
  const int error = pthread_create(&worker.thread, nullptr, enter, &worker);
  if (error == 0) return;
  worker.tid = 0;
  throw std::system_error(error, std::generic_category(), "an engine thread could not be started");
}

void* Engine::enter(void* argument) {
  auto& worker = *static_cast<Worker*>(argument);
  const auto& policy = worker.engine->policy_;
  pthread_setname_np(pthread_self(), "pe-progress");
  worker.slice = schedule_this_thread(
                     {worker.idle_class, worker.idle_class ? 0 : policy.slice_us, worker.nicest ? nicest : policy.nice})
                     .value_or(0);
  place(policy);
  worker.tid = gettid();
  worker.loop(*worker.engine, worker);
  worker.final_usage = usage_of_thread(gettid());
  worker.ended.store(true, std::memory_order_release);
  return nullptr;
}

bool Engine::stop(Nanoseconds limit) {
  phases_.end(now(), activity_.completed());
  stopping_ = 1;
  futex_wake(stopping_);
  parking_.ring();
  if (events_) events_->interrupt();
  if (doorbell_) doorbell_->ring_own();
  timespec deadline{};
  clock_gettime(CLOCK_REALTIME, &deadline);
  const Nanoseconds end = seconds(deadline.tv_sec) + deadline.tv_nsec + limit;
  deadline = to_timespec(end);
  bool all = true;
  for (auto& worker : workers_) {
    if (worker->tid == 0) continue;  // never started
    if (pthread_timedjoin_np(worker->thread, nullptr, &deadline) == 0)
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
  paused_ = false;
  note_phase();
  parking_.ring();
}

// By wall-clock time, so that all ranks take the same turns. Of each two turns one is on: which one is as good as
// random, lest the program's own rhythm decides.
void Engine::take_turn() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  const auto turn =
      static_cast<std::uint64_t>((seconds(time.tv_sec) + time.tv_nsec) / microseconds(1000) / policy_.trial_ms);
  if (turn_.exchange(turn, std::memory_order_relaxed) == turn) return;
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // Knuth's multiplicative hash
  const std::uint64_t first = ((turn / 2) * golden) >> 63;
  disarmed_ = (turn % 2) == first;
  note_phase();
  parking_.ring();
}

bool Engine::may_poll() const {
  if (paused() || (holds_.load(std::memory_order_seq_cst) > 0 && !broken("file-calls-alone"))) return false;
  if (policy_.trigger == Trigger::always) return true;
  if (policy_.trigger == Trigger::outside && activity_.anyone_inside() && !broken("standing-down")) return false;
  return activity_.pending() > 0 || activity_.standing() > 0;
}

void Engine::account(Worker& worker, const BurstResult& result) {
  add(worker.polls, result.polls);
  add(worker.productive_polls, result.productive);
  driver_->after_burst(result, activity_.completed());
}

// One poller at a time: two would only wait for each other inside the MPI.
bool Engine::take_driver(Worker& worker) {
  Worker* holder = nullptr;
  // In one order with holds_: either the poller sees the hold, or the holder sees the poller.
  if (poller_.compare_exchange_strong(holder, &worker, std::memory_order_seq_cst)) return true;
  if (!worker.idle_class) hurry(*holder);
  return false;
}

// An idle thread that lost its core inside the MPI holds the MPI's locks; it must run to give them back.
void Engine::hurry(Worker& holder) {
  if (holder.idle_class && !broken("lifting") && !holder.lifted.exchange(true))
    lift_from_idle_class(holder.tid, policy_.slice_us);
}

void Engine::hold() {
  holds_.fetch_add(1, std::memory_order_seq_cst);
  for (int rounds = 0; Worker* holder = poller_.load(std::memory_order_seq_cst); RealAtomics::relax(rounds++)) {
    if (broken("file-calls-alone")) return;
    hurry(*holder);
  }
}

void Engine::return_driver(Worker& worker) {
  poller_.store(nullptr, std::memory_order_release);
  if (worker.lifted.exchange(false)) return_to_idle_class();
}

BurstResult Engine::poll(Worker& worker) {
  if (!take_driver(worker)) return {};
  if (doorbell_ && doorbell_->own().answer()) add(worker.answers, 1);
  const auto result = run_burst(*driver_, judge_, policy_.burst, [this] { return !stopping() && may_poll(); });
  account(worker, result);
  return_driver(worker);
  if (doorbell_ && result.productive > 0) doorbell_->ring_partners();
  return result;
}

void Engine::wake_for_work() {
  if (policy_.trigger == Trigger::outside) activity_.order_leaving();
  if (may_poll()) parking_.ring();
}

void Engine::do_more_after_call() {
  light_fence();
  if (parking_.anyone()) wake_for_work();
  if (policy_.points.on_calls) poll_from_call();
  if (policy_.trial_ms > 0) take_turn();
}

void Engine::poll_from_call() {
  if (!may_poll() || !take_driver(calls_)) return;
  account(calls_, run_burst(*driver_, judge_, 1, [this] { return !stopping() && may_poll(); }));
  return_driver(calls_);
}

void Engine::park(Worker& worker) {
  add(worker.parks, 1);
  parking_.park([this] { return stopping() || may_poll(); }, seconds(policy_.park_s));
}

}  // namespace progress_engine
