// SPDX-License-Identifier: BSD-3-Clause
// The latency of a message: half a round trip, its whole distribution (Denis, PDP 2015: figures 2, 3 and 5; studies
// latency-idle-period, timer-period, latency-flavours).
//
// Point: size_bytes (1), round_trips (a repetition, 1000), calls (blocking). Samples, on both sides: the distribution
// latency_s (one value a round trip; beyond 20,000 of them a histogram with exact extremes and quantiles);
// batch_median_s, cpu_s, other_voluntary_switches, other_involuntary_switches (one value a repetition).
// 10 million round trips: round_trips=1000 with --min-samples=10000 --max-samples=10000.
#include <algorithm>

#include "common/clock.h"
#include "common/thread_usage.h"
#include "microbench/benchmarks.h"
#include "microbench/pair.h"
#include "microbench/ping_pong.h"

namespace workloads::latency {
namespace {

const Parameters& parameters() {
  static const Parameters table{
      size_parameter(1),
      round_trips_parameter(1000),
      {
          .name = "calls",
          .domain = Choices{"blocking", "nonblocking"},
          .unit = "",
          .meaning = "MPI_Send and MPI_Recv, or MPI_Isend and MPI_Irecv with MPI_Wait",
          .default_value = "blocking",
      },
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

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static const auto names = names_of(quantity_table(), 4);
    return names;
  }

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

std::unique_ptr<Experiment> prepare(const Preparation& preparation) { return std::make_unique<Latency>(preparation); }

}  // namespace
}  // namespace workloads::latency

namespace workloads {

const Benchmark& latency_benchmark() {
  static const Benchmark benchmark{
      .name = "latency",
      .question = "How long does a message take? Half a round trip, its whole distribution.",
      .parameters = latency::parameters(),
      .quantities = latency::quantity_table(),
      .check = check_pairs,
      .prepare = latency::prepare,
  };
  return benchmark;
}

}  // namespace workloads
