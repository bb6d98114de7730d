// SPDX-License-Identifier: BSD-3-Clause
// How often are threads switched and preempted while the program computes, with an exchange of messages pending and
// with nothing pending? (Ruhela et al., EuroMPI 2018; study context-switches.)
//
// Point: pending (true or false), size_bytes (4 MiB, one message each way), work_units, work (register). Samples, one a
// repetition, of the computation alone: comp_in_s; switches_per_s and preemptions_per_s (involuntary ones among
// them) of all threads but the application's: the engine's and the MPI's own; application_switches_per_s,
// application_preemptions_per_s; cpu_share (CPU seconds of the process a second: 1 if only the computation runs). And
// total_s: of the whole repetition, exchange and computation.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/clock.h"
#include "common/fixed_work.h"
#include "common/machine.h"
#include "microbench/benchmarks.h"
#include "microbench/pair.h"
#include "microbench/payload.h"

namespace workloads::context_switches {
namespace {

constexpr int message_tag = 100;

const Parameters& parameters() {
  constexpr std::int64_t four_mebibytes = std::int64_t{4} * 1024 * 1024;
  static const Parameters table{
      flag_parameter("pending",
                     "the exchange is started before the computation and completed behind it; false: both behind it"),
      size_parameter(four_mebibytes),
      work_units_parameter(nullptr),
      work_parameter(),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      seconds("comp_in_s"),
      {.name = "switches_per_s", .unit = "1/s", .better = Better::lower, .leading = true},
      {.name = "preemptions_per_s", .unit = "1/s", .better = Better::lower},
      {.name = "application_switches_per_s", .unit = "1/s", .better = Better::lower},
      {.name = "application_preemptions_per_s", .unit = "1/s", .better = Better::lower},
      {.name = "cpu_share", .unit = "1", .better = Better::lower},
      seconds("total_s"),
  };
  return table;
}

/// One message each way between the two of a pair.
class Exchange {
 public:
  Exchange(const MpiProcess& mpi, std::size_t bytes) : pair_(mpi), out_(bytes), in_(bytes) {}

  void start() {
    out_.fill(seed_of(pair_.is_sender()));
    const auto count = static_cast<int>(out_.size());
    require(MPI_Irecv(in_.data(), count, MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD, requests_.data()));
    require(MPI_Isend(out_.data(), count, MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD, &requests_[1]));
  }

  /// What is wrong with the message received; empty if nothing.
  std::string complete() {
    require(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    auto problem = in_.check(seed_of(!pair_.is_sender()));
    ++number_;
    return problem;
  }

  [[nodiscard]] const Pair& pair() const noexcept { return pair_; }

 private:
  [[nodiscard]] std::uint64_t seed_of(bool of_sender) const { return (2 * number_) + (of_sender ? 0 : 1); }

  Pair pair_;
  Payload out_;
  Payload in_;
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::uint64_t number_ = 1;
};

class ContextSwitches final : public Experiment {
 public:
  explicit ContextSwitches(const Preparation& preparation)
      : exchange_(preparation.mpi, size_of(preparation.point, parameters())),
        work_(make_fixed_work(work_of(preparation.point, parameters()))),
        units_(units_of(preparation, parameters())),
        pending_(flag_of(preparation.point, parameters(), "pending")) {}

  [[nodiscard]] std::string role() const override { return std::string(exchange_.pair().role()); }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table()); }

  std::string repeat(std::span<double> values) override {
    exchange_.pair().synchronise();
    const auto whole = Clock::now();
    if (pending_) {
      exchange_.start();
    }
    const Usage before = read_usage();
    const auto begin = Clock::now();
    work_->run(units_);
    const double seconds = seconds_since(begin);
    const auto& [cpu_s, application, other] = read_usage() - before;
    if (!pending_) {
      exchange_.start();
    }
    const auto rate = [&](auto count) { return seconds > 0 ? static_cast<double>(count) / seconds : 0.0; };
    values[0] = seconds;
    values[1] = rate(other.voluntary + other.involuntary);
    values[2] = rate(other.involuntary);
    values[3] = rate(application.voluntary + application.involuntary);
    values[4] = rate(application.involuntary);
    values[5] = rate(cpu_s);
    auto problem = exchange_.complete();
    values[6] = seconds_since(whole);
    return problem;
  }

 private:
  Exchange exchange_;
  std::unique_ptr<FixedWork> work_;
  std::uint64_t units_;
  bool pending_;
};

}  // namespace
}  // namespace workloads::context_switches

const workloads::Benchmark& workloads::context_switches_benchmark() {
  static const Benchmark benchmark{
      .name = "context-switches",
      .question = "How often are threads switched while the program computes, with and without messages pending?",
      .parameters = context_switches::parameters(),
      .quantities = context_switches::quantity_table(),
      .check = check_pairs,
      .prepare = make_experiment<context_switches::ContextSwitches>,
      .calibration = &calibration_benchmark(),
  };
  return benchmark;
}
