// SPDX-License-Identifier: BSD-3-Clause
// N threads of one process, each in a ping-pong with its partner in the other process (Fukuoka et al., HPCC 2019,
// "Concurrent Latency"; study concurrent-latency). Needs MPI_THREAD_MULTIPLE and asks for it.
//
// Point: threads (N), threading (kernel, ult), size_bytes (1), round_trips (a repetition of each thread, 100), cores.
// Samples, on both sides, one a repetition: mean_latency_s (elapsed_s over twice the round trips of a thread: threads
// that hold the CPU while others wait for it gain nothing by that), batch_median_s, elapsed_s, cpu_s; and the
// distribution latency_s (half a round trip, of all threads, which does not see who waits between two). The role says
// how the threads wait.
#include <algorithm>
#include <cstdint>

#include "common/clock.h"
#include "common/experiment.h"
#include "common/machine.h"
#include "microbench/pair.h"
#include "ult/tasks.h"

namespace workloads::concurrent_latency {
namespace {

const Parameters& parameters() {
  constexpr std::int64_t most_trips = 10'000'000;
  static const Parameters table{
      count_parameter("threads", nullptr),
      threading_parameter({"kernel", "ult"}),
      bytes_parameter(1),
      integer_parameter("round_trips", {1, most_trips}, "round trips", "round trips of each thread a repetition", 100),
      cores_parameter(),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      leading(seconds("mean_latency_s")),
      seconds("batch_median_s"),
      seconds("elapsed_s"),
      seconds("cpu_s"),
      seconds("latency_s"),
  };
  return table;
}

class ConcurrentLatency final : public Experiment {
 public:
  explicit ConcurrentLatency(const Preparation& preparation)
      : pair_(preparation.mpi),
        tasks_(static_cast<std::size_t>(integer_of(preparation.point, parameters(), "threads")), preparation.point,
               parameters(), pair_.partner()),
        trips_(static_cast<std::size_t>(integer_of(preparation.point, parameters(), "round_trips"))) {
    const auto bytes = static_cast<std::size_t>(integer_of(preparation.point, parameters(), "size_bytes"));
    for (std::size_t i = 0; i < tasks_.count(); ++i) {
      players_.push_back({.out = Payload(bytes), .in = Payload(bytes), .latencies = {}, .problem = ""});
    }
  }

  [[nodiscard]] std::string role() const override {
    return std::string(pair_.role()).append(", ").append(tasks_.waits());
  }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table(), 4); }

  std::string repeat(std::span<double> values) override {
    ++seed_;
    pair_.synchronise();
    const Usage before = read_usage();
    values[2] = tasks_.run([this](std::size_t i) { play(i); });
    values[3] = (read_usage() - before).cpu_s;
    values[0] = values[2] / (2 * static_cast<double>(trips_ + 1));
    std::vector<double> batch;
    std::string problem;
    for (const auto& player : players_) {
      batch.insert(batch.end(), player.latencies.begin(), player.latencies.end());
      problem = problem.empty() ? player.problem : problem;
    }
    latencies_.front().values.insert(latencies_.front().values.end(), batch.begin(), batch.end());
    const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
    std::ranges::nth_element(batch, middle);
    values[1] = *middle;
    return problem;
  }

  [[nodiscard]] std::span<Distribution> distributions() override { return latencies_; }

 private:
  struct Player {
    Payload out;
    Payload in;
    std::vector<double> latencies;
    std::string problem;
  };

  // The two directions of each thread and repetition carry different patterns.
  [[nodiscard]] std::uint64_t seed_of(std::size_t i, bool from_sender) const {
    return (2 * ((seed_ * tasks_.count()) + i)) + (from_sender ? 0 : 1);
  }

  void play(std::size_t i) {
    auto& player = players_[i];
    player.latencies.clear();
    player.latencies.reserve(trips_);
    player.out.fill(seed_of(i, pair_.is_sender()));
    round_trip(i);  // before the first one the partner may not even have started
    for (std::size_t trip = 0; trip < trips_; ++trip) {
      const auto begin = Clock::now();
      round_trip(i);
      player.latencies.push_back(seconds_since(begin) / 2);
    }
    player.problem = player.in.check(seed_of(i, !pair_.is_sender()));
  }

  void round_trip(std::size_t i) {
    auto& player = players_[i];
    const int tag = first_task_tag + static_cast<int>(i);
    if (pair_.is_sender()) {
      tasks_.messenger().send(player.out, tag);
      tasks_.messenger().receive(player.in, tag);
    } else {
      tasks_.messenger().receive(player.in, tag);
      tasks_.messenger().send(player.out, tag);
    }
  }

  Pair pair_;
  Tasks tasks_;
  std::size_t trips_;
  std::vector<Player> players_;
  std::uint64_t seed_ = 0;
  std::array<Distribution, 1> latencies_{Distribution{.name = "latency_s", .values = {}}};
};

}  // namespace
}  // namespace workloads::concurrent_latency

const workloads::Benchmark& workloads::concurrent_latency_benchmark() {
  static const Benchmark benchmark{
      .name = "concurrent-latency",
      .question = "How long does a message take when many threads communicate at once?",
      .parameters = concurrent_latency::parameters(),
      .quantities = concurrent_latency::quantity_table(),
      .check = check_pairs,
      .prepare = make_experiment<concurrent_latency::ConcurrentLatency>,
      .thread_level = "multiple",
  };
  return benchmark;
}

// ult BENCHMARK: many threads that make plain blocking calls (Fukuoka et al., MPI+myth, HPCC 2019).

int main(int argc, char** argv) {
  using namespace workloads;
  return run_program(
      {
          .name = "ult",
          .purpose = "User-level threads whose blocking MPI calls overlap with the computation of the others.",
          .example =
              "Example: mpiexec -n 2 progress-run --variant offload -- ult overlap --point mat_size=100,ults=100",
          .benchmarks = {&concurrent_latency_benchmark(), &ult_overlap_benchmark(), &waiting_benchmark()},
      },
      argc, argv);
}
