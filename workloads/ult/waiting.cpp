// SPDX-License-Identifier: BSD-3-Clause
// Two ways in which a user-level thread can wait for its communication (Fukuoka et al., HPCC 2019, appendix; study
// waiting): out of the ready queue until it is complete, or back into it, to test at each turn. Who waits in a ready
// queue hides from thieves that it has nothing to do. Needs an engine that suspends user-level threads.
//
// Point: waiting (remove, reinsert), mat_size (computation of a part, units), ults (500), parts (computations of each
// task, between exchanges; 4), size_bytes (1 MiB), cores. Samples, one a repetition: elapsed_s, imbalance (computing
// parts that the busiest kernel thread did, over the mean), cpu_s.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>

#include "common/errors.h"
#include "common/machine.h"
#include "ult/tasks.h"
#include "ult/threading.h"

namespace workloads::waiting {
namespace {

const Parameters& parameters() {
  constexpr std::int64_t mebibyte = std::int64_t{1024} * 1024;
  constexpr int papers_threads = 500;
  constexpr int most_parts = 1000;
  static const Parameters table{
      choice_parameter("waiting", {"remove", "reinsert"},
                       "a waiting thread leaves the ready queue until it can go on, or is put back into it to test",
                       "remove"),
      mat_size_parameter(),
      count_parameter("ults", papers_threads),
      integer_parameter("parts", {1, most_parts}, "computations", "computations of a task, each behind an exchange", 4),
      bytes_parameter(mebibyte),
      threading_parameter({"ult"}),
      cores_parameter(),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      leading(seconds("elapsed_s")),
      {.name = "imbalance", .unit = "1", .better = Better::lower},
      seconds("cpu_s"),
  };
  return table;
}

class Waiting final : public Experiment {
 public:
  explicit Waiting(const Preparation& preparation)
      : pair_(preparation.mpi),
        method_(choice_of(preparation.point, parameters(), "waiting")),
        tasks_(static_cast<std::size_t>(integer_of(preparation.point, parameters(), "ults")), preparation.point,
               parameters(), pair_.partner()),
        exchanges_(tasks_.count(), static_cast<std::size_t>(integer_of(preparation.point, parameters(), "size_bytes"))),
        units_(static_cast<std::uint64_t>(static_cast<double>(integer_of(preparation.point, parameters(), "mat_size")) *
                                          preparation.slowdown)),
        parts_(static_cast<std::uint64_t>(integer_of(preparation.point, parameters(), "parts"))),
        parts_done_(tasks_.workers()) {}

  [[nodiscard]] std::string role() const override { return std::string(pair_.role()) + ", " + method_; }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table()); }

  std::string repeat(std::span<double> values) override {
    for (auto& done : parts_done_) {
      done = 0;
    }
    ++repetition_;
    set_engine_waiting(method_);
    pair_.synchronise();
    const Usage before = read_usage();
    values[0] = tasks_.run([this](std::size_t i) { live(i); });
    values[2] = (read_usage() - before).cpu_s;
    set_engine_waiting("remove");
    values[1] = imbalance();
    return exchanges_.problem();
  }

 private:
  void live(std::size_t i) {
    for (std::uint64_t part = 0; part < parts_; ++part) {
      const auto batch = (repetition_ * parts_) + part;
      exchanges_.fill(i, batch, pair_.is_sender());
      exchanges_.exchange(i, tasks_.messenger());
      exchanges_.check(i, batch, !pair_.is_sender());
      exchanges_.compute(i, units_);
      parts_done_[this_worker()].fetch_add(1, std::memory_order_relaxed);
    }
  }

  [[nodiscard]] double imbalance() const {
    const auto total = std::accumulate(parts_done_.begin(), parts_done_.end(), std::uint64_t{0});
    const auto most = std::ranges::max_element(parts_done_, {}, [](const auto& done) { return done.load(); })->load();
    return static_cast<double>(most * parts_done_.size()) / static_cast<double>(total);
  }

  Pair pair_;
  std::string method_;
  Tasks tasks_;
  Exchanges exchanges_;
  std::uint64_t units_;
  std::uint64_t parts_;
  std::vector<std::atomic<std::uint64_t>> parts_done_;
  std::uint64_t repetition_ = 0;
};

void check(const Json& point, int ranks) {
  check_pairs(point, ranks);
  if (!engine_suspends_user_level_threads()) {
    throw UsageError(
        "waiting compares two ways of an engine that suspends user-level threads, and none is loaded: run it under "
        "progress-run --variant offload");
  }
}

}  // namespace
}  // namespace workloads::waiting

const workloads::Benchmark& workloads::waiting_benchmark() {
  static const Benchmark benchmark{
      .name = "waiting",
      .question = "Is a waiting user-level thread better out of the ready queue than in it?",
      .parameters = waiting::parameters(),
      .quantities = waiting::quantity_table(),
      .check = waiting::check,
      .prepare = make_experiment<waiting::Waiting>,
      .thread_level = "multiple",
  };
  return benchmark;
}
