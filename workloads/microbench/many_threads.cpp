// SPDX-License-Identifier: BSD-3-Clause
// Latencies of messages between the threads of two ranks: one with many, and many with many.
#include "common/clock.h"
#include "common/machine.h"
#include "microbench/benchmarks.h"
#include "microbench/pair.h"
#include "microbench/ping_pong.h"
#include "microbench/threads.h"

namespace workloads::one_to_many {
namespace {

// One thread that ping-pongs in turn with each of N threads of the other process, all of which wait (Denis, PDP 2015:
// figure 10; osu_latency_mt; study one-to-many). Needs MPI_THREAD_MULTIPLE and asks for it.
//
// Point: receivers (N), size_bytes (1), round_trips (a repetition, with all receivers together; 100). Samples: on the
// sending side the distribution latency_s (half a round trip with one of them); one a repetition on both sides:
// elapsed_s, cpu_s.

const Parameters& parameters() {
  static const Parameters table{
      threads_parameter("receivers", "threads that wait for a message, each for its own"),
      size_parameter(1),
      round_trips_parameter(100),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{seconds("elapsed_s"), seconds("cpu_s"), leading(seconds("latency_s"))};
  return table;
}

class OneToMany final : public Experiment {
 public:
  explicit OneToMany(const Preparation& preparation)
      : pair_(preparation.mpi),
        ping_pongs_(make_ping_pongs(pair_, static_cast<int>(integer_of(preparation.point, parameters(), "receivers")),
                                    size_of(preparation.point, parameters()))) {
    // Every receiver has the same number of trips, one of them uncounted.
    const auto receivers = static_cast<int>(ping_pongs_.size());
    const auto asked = static_cast<int>(integer_of(preparation.point, parameters(), "round_trips"));
    trips_each_ = 1 + ((asked + receivers - 1) / receivers);
  }

  [[nodiscard]] std::string role() const override { return std::string(pair_.role()); }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table(), 2); }

  std::string repeat(std::span<double> values) override {
    pair_.synchronise();
    const Usage before = read_usage();
    const auto begin = Clock::now();
    for (auto& ping_pong : ping_pongs_) {
      ping_pong.begin();
    }
    if (pair_.is_sender()) {
      send_in_turn();
    } else {
      run_together(ping_pongs_.size(), [&](std::size_t i) { answer(ping_pongs_[i]); });
    }
    values[0] = seconds_since(begin);
    values[1] = (read_usage() - before).cpu_s;
    return first_problem(ping_pongs_, [](PingPong& ping_pong) { return ping_pong.verify(); });
  }

  [[nodiscard]] std::span<Distribution> distributions() override {
    return pair_.is_sender() ? std::span(latencies_) : std::span<Distribution>();
  }

 private:
  void answer(PingPong& ping_pong) const {
    for (int trip = 0; trip < trips_each_; ++trip) {
      ping_pong.round_trip();
    }
  }

  void send_in_turn() {
    auto& latencies = latencies_.front().values;
    latencies.reserve(latencies.size() + (ping_pongs_.size() * static_cast<std::size_t>(trips_each_)));
    for (int trip = 0; trip < trips_each_; ++trip) {
      for (auto& ping_pong : ping_pongs_) {
        const auto begin = Clock::now();
        ping_pong.round_trip();
        if (trip > 0) {  // before the first one the thread at the other end may not even have started
          latencies.push_back(seconds_since(begin) / 2);
        }
      }
    }
  }

  Pair pair_;
  std::vector<PingPong> ping_pongs_;
  int trips_each_ = 0;
  std::array<Distribution, 1> latencies_{Distribution{.name = "latency_s", .values = {}}};
};

}  // namespace
}  // namespace workloads::one_to_many

const workloads::Benchmark& workloads::one_to_many_benchmark() {
  static const Benchmark benchmark{
      .name = "one-to-many",
      .question = "Does latency depend on how many threads wait for a message?",
      .parameters = one_to_many::parameters(),
      .quantities = one_to_many::quantity_table(),
      .check = check_pairs,
      .prepare = make_experiment<one_to_many::OneToMany>,
      .thread_level = "multiple",
  };
  return benchmark;
}

// N threads on each side, thread i ping-pongs with thread i, all at the same time (Denis, PDP 2015: figure 11;
// Argonne's latency_th; study many-to-many). Needs MPI_THREAD_MULTIPLE and asks for it.
//
// Point: pairs (N), size_bytes (1), round_trips (a repetition, of each thread; 100). Samples, on both sides: the
// distribution latency_s (of all threads); one a repetition: batch_median_s, elapsed_s, cpu_s.

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

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table(), 3); }

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

}  // namespace
}  // namespace workloads::many_to_many

const workloads::Benchmark& workloads::many_to_many_benchmark() {
  static const Benchmark benchmark{
      .name = "many-to-many",
      .question = "How long does a message take when many threads send and receive at the same time?",
      .parameters = many_to_many::parameters(),
      .quantities = many_to_many::quantity_table(),
      .check = check_pairs,
      .prepare = make_experiment<many_to_many::ManyToMany>,
      .thread_level = "multiple",
  };
  return benchmark;
}
