// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/queues/task_engine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "platform/placement.hpp"
#include "platform/scheduling.hpp"

namespace progress_engine {
namespace {

constexpr Nanoseconds longest_sleep = seconds(60);  // bounds what a lost wake-up could cost

// Of these CPUs, those that the process was given. None of them (in a synthetic topology, say): the thread stays free.
void bind_this_thread(const std::vector<int>& cpus) {
  Cpus wanted = allowed_cpus(0);
  std::erase_if(wanted, [&](int cpu) { return std::ranges::find(cpus, cpu) == cpus.end(); });
  if (!wanted.empty()) bind_this_thread_to(wanted);
}

}  // namespace

TaskEngine::TaskEngine(Topology topology, TaskEngineOptions options)
    : options_(std::move(options)), tree_(std::move(topology), options_.tree) {
  prepare_fences();
  try {
    start_idle_threads();
    const auto& root = tree_.topology().places().front();
    for (int i = 0; i < options_.dedicated; ++i)
      start({}, false, [this, leaves = root.leaves] { run_rounds(leaves, 0, nullptr); });
    if (options_.timer_period > 0) start({}, false, [this] { run_timer(); });
  } catch (...) {
    stop();
    throw;
  }
}

TaskEngine::~TaskEngine() { stop(); }

template <typename Loop>
void TaskEngine::start(const std::vector<int>& cpus, bool idle_class, const Loop& loop) {
  threads_.push_back(start_engine_thread("pe-tasks", [cpus, idle_class, loop] {
    if (!cpus.empty()) bind_this_thread(cpus);
    schedule_this_thread({.idle_class = idle_class});
    loop();
  }));
}

void TaskEngine::start_idle_threads() {
  if (options_.idle == "none") return;
  const Topology& topology = tree_.topology();
  for (const int index : topology.places_of(options_.idle)) {
    const Place& place = topology.places()[static_cast<std::size_t>(index)];
    IdleThread& idle = idle_threads_.emplace_back();
    start(place.cpus, true, [this, leaves = place.leaves, &idle] {
      idle.tid.store(gettid(), std::memory_order_release);
      run_rounds(leaves, options_.idle_period, &idle);
    });
  }
}

void TaskEngine::stop() {
  stopping_.store(1, std::memory_order_release);
  futex_wake(stopping_);
  light_fence();
  parking_.ring();
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  threads_.clear();
}

bool TaskEngine::submit(Ltask& task, int place) {
  if (!tree_.submit(task, place)) return false;
  light_fence();
  if (parking_.anyone()) parking_.ring();
  return true;
}

void TaskEngine::wait(Ltask& task) {
  const bool alone = threads_.empty();  // then no queue may be left out, and sleeping is no use
  for (const Nanoseconds end = now() + options_.spin; !task.completion.done();) {
    const int polled = alone ? tree_.full_round() : poll();
    if (alone && polled == 0) sched_yield();  // another thread is at it
    if (!alone && now() >= end) task.completion.sleep(longest_sleep);
  }
}

// A thread that serves several leaves begins each round at the next one.
void TaskEngine::run_rounds(const std::vector<int>& leaves, Nanoseconds period, IdleThread* idle) {
  for (std::size_t turn = 0; !stopping(); ++turn) {
    if (idle) idle->rounds.fetch_add(1, std::memory_order_relaxed);
    tree_.round(leaves[turn % leaves.size()]);
    if (idle) idle->rounds.fetch_add(1, std::memory_order_relaxed);
    if (idle && idle->lifted.load(std::memory_order_relaxed) && idle->lifted.exchange(false)) return_to_idle_class();
    pause(period);
    park_if_empty();
  }
}

void TaskEngine::run_timer() {
  while (!stopping()) {
    pause(options_.timer_period);
    lift_preempted_idle_threads();
    tree_.full_round();
    park_if_empty();
  }
}

void TaskEngine::lift_preempted_idle_threads() {
  for (auto& idle : idle_threads_) {
    const unsigned rounds = idle.rounds.load(std::memory_order_relaxed);
    const bool in_round = rounds % 2 == 1;
    if (in_round && rounds == std::exchange(idle.seen, rounds) && !idle.lifted.exchange(true))
      lift_from_idle_class(idle.tid.load(std::memory_order_acquire), 0);
  }
}

void TaskEngine::pause(Nanoseconds period) {
  if (period > 0)
    futex_wait(stopping_, 0, period);
  else
    sched_yield();
}

void TaskEngine::park_if_empty() {
  if (tree_.empty()) parking_.park([this] { return stopping() || !tree_.empty(); }, longest_sleep);
}

}  // namespace progress_engine
