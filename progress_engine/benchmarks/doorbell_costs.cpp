// SPDX-License-Identifier: BSD-3-Clause
// What ringing another process's engine costs the one who sends.
#include <benchmark/benchmark.h>
#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>

#include "wakeup/doorbell.hpp"

using namespace progress_engine;

namespace {

std::string program(const char* name) { return std::string("benchmark ") + name + " " + std::to_string(getpid()); }

void ring_awake(benchmark::State& state) {
  prepare_fences();
  const Doorbell owner(program("awake"), 0, 2);
  Doorbell sender(program("awake"), 1, 2);
  for (auto _ : state) benchmark::DoNotOptimize(sender.ring(0));
}
BENCHMARK(ring_awake);

// The owner sleeps on its line again and again.
void ring_asleep(benchmark::State& state) {
  prepare_fences();
  const Doorbell owner(program("asleep"), 0, 2);
  Doorbell sender(program("asleep"), 1, 2);
  constexpr timespec until_it_sleeps = {.tv_sec = 0, .tv_nsec = 60'000};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> naps{0};
  std::thread thread([&] {
    while (!stop) {
      owner.own().answer();
      naps.fetch_add(1);
      owner.own().sleep(seconds(1));
    }
  });
  for (auto _ : state) {
    const auto before = naps.load();
    nanosleep(&until_it_sleeps, nullptr);
    const Nanoseconds start = now();
    sender.ring(0);
    state.SetIterationTime(1e-9 * static_cast<double>(now() - start));
    while (naps.load() == before) sched_yield();
  }
  stop = true;
  sender.ring(0);
  thread.join();
}
BENCHMARK(ring_asleep)
    ->Iterations(500)  // as wake_parked in core_costs.cpp
    ->UseManualTime();

}  // namespace
