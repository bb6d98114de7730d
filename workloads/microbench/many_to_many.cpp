// SPDX-License-Identifier: BSD-3-Clause
// N threads on each side, thread i ping-pongs with thread i, all at the same time (Denis, PDP 2015: figure 11;
// Argonne's latency_th; study many-to-many). Needs MPI_THREAD_MULTIPLE and asks for it.
//
// Point: pairs (N), size_bytes (1), round_trips (a repetition, of each thread; 100). Samples, on both sides: the
// distribution latency_s (of all threads); one a repetition: batch_median_s, elapsed_s, cpu_s.
#include "common/clock.h"
#include "common/thread_usage.h"
#include "microbench/benchmarks.h"
#include "microbench/pair.h"
#include "microbench/ping_pong.h"
#include "microbench/team.h"

namespace workloads::many_to_many {
namespace {

const Parameters& parameters() {
  static const Parameters table{
      threads_parameter("pairs", "threads of each process, each with its partner in the other one"),
      size_parameter(1),
      round_trips_parameter(100),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      seconds("batch_median_s"),
      seconds("elapsed_s"),
      seconds("cpu_s"),
      leading(seconds("latency_s")),
  };
  return table;
}

class ManyToMany final : public Experiment {
 public:
  explicit ManyToMany(const Preparation& preparation)
      : pair_(preparation.mpi),
        ping_pongs_(make_ping_pongs(pair_, static_cast<int>(integer_of(preparation.point, parameters(), "pairs")),
                                    size_of(preparation.point, parameters()))),
        trips_(static_cast<int>(integer_of(preparation.point, parameters(), "round_trips"))) {}

  [[nodiscard]] std::string role() const override { return std::string(pair_.role()); }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static const auto names = names_of(quantity_table(), 3);
    return names;
  }

  std::string repeat(std::span<double> values) override {
    struct Outcome {
      std::vector<double> latencies;
      std::string problem;
    };
    std::vector<Outcome> outcomes(ping_pongs_.size());
    pair_.synchronise();
    const Usage before = read_usage();
    const auto begin = Clock::now();
    run_together(ping_pongs_.size(),
                 [&](std::size_t i) { outcomes[i].problem = ping_pongs_[i].run(trips_, outcomes[i].latencies); });
    values[1] = seconds_since(begin);
    values[2] = (read_usage() - before).cpu_s;
    auto& all = latencies_.front().values;
    for (const auto& outcome : outcomes) {
      all.insert(all.end(), outcome.latencies.begin(), outcome.latencies.end());
    }
    values[0] = median_of_last(all, outcomes.size() * static_cast<std::size_t>(trips_));
    return first_problem(outcomes, [](const Outcome& outcome) { return outcome.problem; });
  }

  [[nodiscard]] std::span<Distribution> distributions() override { return latencies_; }

 private:
  Pair pair_;
  std::vector<PingPong> ping_pongs_;
  int trips_;
  std::array<Distribution, 1> latencies_{Distribution{.name = "latency_s", .values = {}}};
};

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  return std::make_unique<ManyToMany>(preparation);
}

}  // namespace
}  // namespace workloads::many_to_many

namespace workloads {

const Benchmark& many_to_many_benchmark() {
  static const Benchmark benchmark{
      .name = "many-to-many",
      .question = "How long does a message take when many threads send and receive at the same time?",
      .parameters = many_to_many::parameters(),
      .quantities = many_to_many::quantity_table(),
      .check = check_pairs,
      .prepare = many_to_many::prepare,
      .thread_level = "multiple",
  };
  return benchmark;
}

}  // namespace workloads
