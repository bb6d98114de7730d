// SPDX-License-Identifier: BSD-3-Clause
// What handing a call over to the communication thread costs, without an MPI.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>

#include "offload/communication_thread.hpp"
#include "offload/waiter.hpp"
#include "wait/event_source.hpp"

using namespace progress_engine;
using namespace progress_engine::offload;

namespace {

// The communication thread never sleeps here: what waking it costs is measured by wake_parked.
class NoEvents : public EventSource {
 public:
  bool wait(Nanoseconds /*bound*/) override { return false; }
  void before_poll() override {}
  PollEffect after_poll() override { return {}; }
  bool any() const override { return false; }
  bool carries() const override { return false; }
  void watch(int /*descriptor*/, std::function<void()> /*handler*/) override {}
  bool refresh() override { return false; }
  void interrupt() override {}
};

struct Call : Command {
  Completion completion;
};

class Awake {
 public:
  Awake() : thread({.sleeps = false}, std::make_unique<NoEvents>()) { thread.start(); }
  ~Awake() { thread.stop(seconds(10)); }
  Awake(const Awake&) = delete;
  Awake& operator=(const Awake&) = delete;
  CommunicationThread thread;
};

void complete(Command& command) { static_cast<Call&>(command).completion.complete(); }

// Fewer than the queue has room for: nobody waits for room.
void offload_enqueue(benchmark::State& state) {
  constexpr std::size_t batch = 1024;
  static std::array<Call, batch> calls;
  Awake awake;
  for (auto& call : calls) call.execute = complete;
  while (state.KeepRunningBatch(batch)) {
    for (auto& call : calls) awake.thread.submit(call);
    state.PauseTiming();
    for (auto& call : calls) {
      call.completion.wait();
      call.completion.reset();
    }
    state.ResumeTiming();
  }
}
BENCHMARK(offload_enqueue);

void offload_round_trip(benchmark::State& state) {
  Awake awake;
  Call call;
  call.execute = complete;
  for (auto _ : state) {
    call.completion.reset();
    awake.thread.submit(call);
    call.completion.wait();
  }
}
BENCHMARK(offload_round_trip);

}  // namespace
