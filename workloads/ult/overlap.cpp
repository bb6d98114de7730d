// SPDX-License-Identifier: BSD-3-Clause
// Many tasks, each of which exchanges a message, computes, and exchanges again, all by plain blocking calls (Fukuoka et
// al., HPCC 2019, "Overlap Benchmark"; study ult-overlap).
//
// Point: mat_size (computation of a task, units of fixed work: the paper's MAT_SIZE, to which its computation is
// proportional), ults (500), size_bytes (1 MiB), threading (kernel, ult, phases), cores. Samples, one a repetition:
// remainder_s (the whole time less comp_s: what communication added), elapsed_s, comp_s (the same computation without
// any communication, just before), cpu_s. The role says how the tasks wait.
#include <cstdint>

#include "common/clock.h"
#include "common/machine.h"
#include "ult/tasks.h"

namespace workloads::ult_overlap {
namespace {

const Parameters& parameters() {
  constexpr std::int64_t mebibyte = std::int64_t{1024} * 1024;
  constexpr int papers_threads = 500;
  static const Parameters table{
      mat_size_parameter(),      count_parameter("ults", papers_threads),
      bytes_parameter(mebibyte), threading_parameter({"kernel", "ult", "phases"}),
      cores_parameter(),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      leading(seconds("remainder_s")),
      seconds("elapsed_s"),
      seconds("comp_s"),
      seconds("cpu_s"),
  };
  return table;
}

class UltOverlap final : public Experiment {
 public:
  explicit UltOverlap(const Preparation& preparation)
      : pair_(preparation.mpi),
        tasks_(static_cast<std::size_t>(integer_of(preparation.point, parameters(), "ults")), preparation.point,
               parameters(), pair_.partner()),
        exchanges_(tasks_.count(), static_cast<std::size_t>(integer_of(preparation.point, parameters(), "size_bytes"))),
        units_(static_cast<std::uint64_t>(static_cast<double>(integer_of(preparation.point, parameters(), "mat_size")) *
                                          preparation.slowdown)) {}

  [[nodiscard]] std::string role() const override {
    return std::string(pair_.role()).append(", ").append(tasks_.waits());
  }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table()); }

  std::string repeat(std::span<double> values) override {
    values[2] = tasks_.run_on_workers([this](std::size_t i) { exchanges_.compute(i, units_); });
    prepare_messages();
    pair_.synchronise();
    const Usage before = read_usage();
    values[1] = tasks_.in_phases() ? run_phases() : tasks_.run([this](std::size_t i) { live(i); });
    values[3] = (read_usage() - before).cpu_s;
    values[0] = values[1] - values[2];
    for (std::size_t i = 0; i < tasks_.count(); ++i) {
      exchanges_.check(i, batch_, !pair_.is_sender());
    }
    return exchanges_.problem();
  }

 private:
  void prepare_messages() {
    ++batch_;
    for (std::size_t i = 0; i < tasks_.count(); ++i) {
      exchanges_.fill(i, batch_, pair_.is_sender());
    }
  }

  void live(std::size_t i) {
    exchanges_.exchange(i, tasks_.messenger());
    exchanges_.compute(i, units_);
    exchanges_.exchange(i, tasks_.messenger());
  }

  double run_phases() {
    const auto begin = Clock::now();
    communicate();
    tasks_.run_on_workers([this](std::size_t i) { exchanges_.compute(i, units_); });
    communicate();
    return seconds_since(begin);
  }

  // The master alone, one exchange after the other.
  void communicate() {
    for (std::size_t i = 0; i < tasks_.count(); ++i) {
      exchanges_.exchange(i, tasks_.messenger());
    }
  }

  Pair pair_;
  Tasks tasks_;
  Exchanges exchanges_;
  std::uint64_t units_;
  std::uint64_t batch_ = 0;
};

}  // namespace
}  // namespace workloads::ult_overlap

const workloads::Benchmark& workloads::ult_overlap_benchmark() {
  static const Benchmark benchmark{
      .name = "overlap",
      .question = "What does communication add to the computation of many threads that make blocking calls?",
      .parameters = ult_overlap::parameters(),
      .quantities = ult_overlap::quantity_table(),
      .check = check_pairs,
      .prepare = make_experiment<ult_overlap::UltOverlap>,
      .thread_level = "multiple",
  };
  return benchmark;
}
