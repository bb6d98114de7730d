// SPDX-License-Identifier: BSD-3-Clause
// The latency of a message between two ranks: with nothing beside it, and beside threads that compute.
#include <algorithm>
#include <cstdint>

#include "common/clock.h"
#include "common/machine.h"
#include "microbench/benchmarks.h"
#include "microbench/pair.h"
#include "microbench/ping_pong.h"
#include "microbench/threads.h"

namespace workloads::latency {
namespace {

// The latency of a message: half a round trip, its whole distribution (Denis, PDP 2015: figures 2, 3 and 5; studies
// latency-idle-period, timer-period, latency-flavours).
//
// Point: size_bytes (1), round_trips (a repetition, 1000), calls (blocking). Samples, on both sides: the distribution
// latency_s (one value a round trip; beyond 20,000 of them a histogram with exact extremes and quantiles);
// batch_median_s, cpu_s, other_voluntary_switches, other_involuntary_switches (one value a repetition).
// 10 million round trips: round_trips=1000 with --min-samples=10000 --max-samples=10000.

const Parameters& parameters() {
  static const Parameters table{
      size_parameter(1),
      round_trips_parameter(1000),
      choice_parameter("calls", {"blocking", "nonblocking"},
                       "MPI_Send and MPI_Recv, or MPI_Isend and MPI_Irecv with MPI_Wait", "blocking"),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      seconds("batch_median_s"),         seconds("cpu_s"),
      count("other_voluntary_switches"), count("other_involuntary_switches"),
      leading(seconds("latency_s")),
  };
  return table;
}

class Latency final : public Experiment {
 public:
  explicit Latency(const Preparation& preparation)
      : pair_(preparation.mpi),
        ping_pong_({
            .partner = pair_.partner(),
            .tag = ping_pong_tag,
            .bytes = size_of(preparation.point, parameters()),
            .first = pair_.is_sender(),
            .nonblocking = choice_of(preparation.point, parameters(), "calls") == "nonblocking",
            .slowdown = preparation.slowdown,
        }),
        trips_(static_cast<int>(integer_of(preparation.point, parameters(), "round_trips"))) {}

  [[nodiscard]] std::string role() const override { return std::string(pair_.role()); }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table(), 4); }

  std::string repeat(std::span<double> values) override {
    pair_.synchronise();
    auto& latencies = latencies_.front().values;
    const Usage before = read_usage();
    auto problem = ping_pong_.run(trips_, latencies);
    const Usage usage = read_usage() - before;
    values[0] = median_of_last(latencies, static_cast<std::size_t>(trips_));
    values[1] = usage.cpu_s;
    values[2] = static_cast<double>(usage.other.voluntary);
    values[3] = static_cast<double>(usage.other.involuntary);
    return problem;
  }

  [[nodiscard]] std::span<Distribution> distributions() override { return latencies_; }

 private:
  Pair pair_;
  PingPong ping_pong_;
  int trips_;
  std::array<Distribution, 1> latencies_{Distribution{.name = "latency_s", .values = {}}};
};

}  // namespace
}  // namespace workloads::latency

const workloads::Benchmark& workloads::latency_benchmark() {
  static const Benchmark benchmark{
      .name = "latency",
      .question = "How long does a message take? Half a round trip, its whole distribution.",
      .parameters = latency::parameters(),
      .quantities = latency::quantity_table(),
      .check = check_pairs,
      .prepare = make_experiment<latency::Latency>,
  };
  return benchmark;
}

// A ping-pong beside N computing threads on each side, N beyond the cores (Denis, PDP 2015: figure 12; study n-load).
//
// Point: computing_threads, size_bytes (1 MiB), work (register or memory), round_trips (a repetition, 10). Samples: the
// distributions latency_s (under the load) and unloaded_latency_s; one a repetition: batch_median_s, excess_latency_s
// (how much longer the slowest round trip was than the slowest one without the load, just before: whole round trips),
// compute_units_per_s (all computing threads together), cpu_s.

namespace workloads::n_load {
namespace {

const Parameters& parameters() {
  constexpr std::int64_t mebibyte = std::int64_t{1024} * 1024;
  constexpr int most_threads = 4096;
  static const Parameters table{
      integer_parameter("computing_threads", {0, most_threads}, "threads",
                        "threads of each process that compute beside the one that communicates"),
      size_parameter(mebibyte),
      work_parameter(),
      round_trips_parameter(10),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      seconds("batch_median_s"),
      seconds("excess_latency_s"),
      {.name = "compute_units_per_s", .unit = "1/s", .better = Better::higher},
      seconds("cpu_s"),
      leading(seconds("latency_s")),
      seconds("unloaded_latency_s"),
  };
  return table;
}

class NLoad final : public Experiment {
 public:
  explicit NLoad(const Preparation& preparation)
      : pair_(preparation.mpi),
        ping_pong_({
            .partner = pair_.partner(),
            .tag = ping_pong_tag,
            .bytes = size_of(preparation.point, parameters()),
            .first = pair_.is_sender(),
        }),
        threads_(static_cast<int>(integer_of(preparation.point, parameters(), "computing_threads")),
                 work_of(preparation.point, parameters())),
        trips_(static_cast<int>(integer_of(preparation.point, parameters(), "round_trips"))) {}

  [[nodiscard]] std::string role() const override { return std::string(pair_.role()); }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table(), 4); }

  std::string repeat(std::span<double> values) override {
    auto& loaded = distributions_[0].values;
    auto& unloaded = distributions_[1].values;
    auto problem = ping_pong_.run(trips_, unloaded);
    threads_.start();
    const Usage before = read_usage();
    auto problem_under_load = ping_pong_.run(trips_, loaded);
    const Usage usage = read_usage() - before;
    const double units_per_s = threads_.stop();
    values[0] = median_of_last(loaded, static_cast<std::size_t>(trips_));
    values[1] = 2 * (largest_of_last(loaded) - largest_of_last(unloaded));
    values[2] = units_per_s;
    values[3] = usage.cpu_s;
    return problem.empty() ? problem_under_load : problem;
  }

  [[nodiscard]] std::span<Distribution> distributions() override { return distributions_; }

 private:
  [[nodiscard]] double largest_of_last(const std::vector<double>& values) const {
    return *std::max_element(values.end() - trips_, values.end());
  }

  Pair pair_;
  PingPong ping_pong_;
  ComputingThreads threads_;
  int trips_;
  std::array<Distribution, 2> distributions_{
      Distribution{.name = "latency_s", .values = {}},
      Distribution{.name = "unloaded_latency_s", .values = {}},
  };
};

}  // namespace
}  // namespace workloads::n_load

const workloads::Benchmark& workloads::n_load_benchmark() {
  static const Benchmark benchmark{
      .name = "n-load",
      .question = "How long does a message take while other threads of its processes compute?",
      .parameters = n_load::parameters(),
      .quantities = n_load::quantity_table(),
      .check = check_pairs,
      .prepare = make_experiment<n_load::NLoad>,
  };
  return benchmark;
}
