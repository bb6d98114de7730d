// SPDX-License-Identifier: BSD-3-Clause
// What the engine's parts cost by themselves, without an MPI. analysis/budgets.py knows the benchmarks by
// name and holds each against its budget.
#include <benchmark/benchmark.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "core/activity.hpp"
#include "platform/platform.hpp"
#include "tasks/queues/task_queue.hpp"

using namespace progress_engine;

namespace {

using Queue = BasicSubmissionQueue<RealAtomics>;

int done_at_once(void* /*argument*/) { return 1; }

// ---- the task queue

void submit(benchmark::State& state) {
  constexpr std::size_t batch = 1024;
  static std::array<Ltask, batch> tasks;
  Queue queue;
  while (state.KeepRunningBatch(batch)) {
    for (auto& task : tasks) {
      task.poll = done_at_once;
      queue.submit(task);
    }
    state.PauseTiming();
    queue.run();
    state.ResumeTiming();
  }
}
BENCHMARK(submit);

void submit_and_run(benchmark::State& state) {
  Queue queue;
  Ltask task;
  task.poll = done_at_once;
  for (auto _ : state) {
    task.completion.reset();
    queue.submit(task);
    benchmark::DoNotOptimize(queue.run());
  }
}
BENCHMARK(submit_and_run);

void poll_empty_queue(benchmark::State& state) {
  Queue queue;
  for (auto _ : state) benchmark::DoNotOptimize(queue.run());
}
BENCHMARK(poll_empty_queue);

// A poller that finds the mask taken: another thread is in the middle of a task.
void poll_masked_queue(benchmark::State& state) {
  static std::atomic<std::uint32_t> entered;
  static std::atomic<std::uint32_t> leave;
  entered = 0;
  leave = 0;
  Queue queue;
  Ltask task;
  task.poll = [](void* /*argument*/) {
    entered = 1;
    entered.notify_one();
    leave.wait(0);
    return 1;
  };
  queue.submit(task);
  std::thread holder([&] { queue.run(); });
  entered.wait(0);
  for (auto _ : state) benchmark::DoNotOptimize(queue.run());
  leave = 1;
  leave.notify_one();
  holder.join();
}
BENCHMARK(poll_masked_queue);

// ---- the program's side of an interposed call, with nobody parked: note that the thread is inside, count, look

void enter_and_leave(benchmark::State& state) {
  prepare_fences();
  Activity activity;
  Parking parking;
  ThreadSlot& slot = activity.acquire();
  for (auto _ : state) {
    slot.depth.store(1, std::memory_order_release);
    Activity::note_start(slot, 1, Activity::unbounded);
    slot.depth.store(0, std::memory_order_release);
    light_fence();
    benchmark::DoNotOptimize(parking.anyone());
  }
}
BENCHMARK(enter_and_leave);

// ---- waking

// A thread that parks again and again, and says when it ran.
class Sleeper {
 public:
  Sleeper() : thread_([this] { run(); }) {}
  ~Sleeper() {
    stop_ = true;
    ring();
    thread_.join();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  void await_sleep() const {
    while (!parking_.anyone()) sched_yield();
    constexpr timespec until_it_sleeps = {.tv_sec = 0, .tv_nsec = 30'000};
    nanosleep(&until_it_sleeps, nullptr);
  }
  void ring() {
    work_.store(true, std::memory_order_release);
    light_fence();
    if (parking_.anyone()) parking_.ring();
  }
  // When it ran after the last ring().
  Nanoseconds woken_at() const {
    Nanoseconds time = 0;
    while ((time = woken_at_.load(std::memory_order_acquire)) == 0) sched_yield();
    return time;
  }
  void forget() { woken_at_ = 0; }

 private:
  void run() {
    while (!stop_) {
      parking_.park([this] { return work_.load(std::memory_order_acquire); }, seconds(1));
      if (work_.exchange(false)) woken_at_.store(now(), std::memory_order_release);
    }
  }

  Parking parking_;
  std::atomic<bool> work_{false};
  std::atomic<bool> stop_{false};
  std::atomic<Nanoseconds> woken_at_{0};
  std::thread thread_;
};

// Each goes to sleep first, outside of the time that counts: the time that counts cannot say how many are enough.
constexpr int wakes = 500;

// What the ringer pays.
void wake_parked(benchmark::State& state) {
  prepare_fences();
  Sleeper sleeper;
  for (auto _ : state) {
    sleeper.forget();
    sleeper.await_sleep();
    const Nanoseconds start = now();
    sleeper.ring();
    state.SetIterationTime(1e-9 * static_cast<double>(now() - start));
    sleeper.woken_at();
  }
}
BENCHMARK(wake_parked)->Iterations(wakes)->UseManualTime();

// How long it takes until the sleeper runs.
void wake_parked_latency(benchmark::State& state) {
  prepare_fences();
  Sleeper sleeper;
  for (auto _ : state) {
    sleeper.forget();
    sleeper.await_sleep();
    const Nanoseconds start = now();
    sleeper.ring();
    state.SetIterationTime(1e-9 * static_cast<double>(sleeper.woken_at() - start));
  }
}
BENCHMARK(wake_parked_latency)->Iterations(wakes)->UseManualTime();

void park_and_find_work(benchmark::State& state) {
  prepare_fences();
  Parking parking;
  for (auto _ : state) benchmark::DoNotOptimize(parking.park([] { return true; }, seconds(1)));
}
BENCHMARK(park_and_find_work);

// ---- what all of these are measured with

void read_clock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(now());
}
BENCHMARK(read_clock);

}  // namespace

BENCHMARK_MAIN();
