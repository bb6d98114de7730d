// SPDX-License-Identifier: BSD-3-Clause
// Does a nonblocking collective progress while its ranks compute? (Ruhela et al., EuroMPI 2018; study
// collective-overlap.) As `overlap`, with a fixed amount of work; a barrier closes the total, because a rank that has
// done its part is not done with the collective.
//
// Point: collective, size_bytes (the vector of ibcast, ireduce, iallreduce; else the block from one rank to another),
// work_units, work (register), compute (real), test_every (0; manual progression), back_to_back (0), computes_for
// (work_units). Samples, one a repetition, on every rank: total_s, comm_s, comp_s, comp_in_s (tests included), post_s,
// wait_s, test_s, ack_s (the closing barrier alone), cpu_s, the context switches of the application's and of other
// threads, and own_comm_s: the collective alone until this rank's own part is done, without the barrier, which is what
// OSU's and IMB's benchmarks call its time.
#include <fmt/format.h>
#include <mpi.h>

#include <cstdint>

#include "common/clock.h"
#include "common/errors.h"
#include "common/overlap_sample.h"
#include "common/sleeping.h"
#include "common/thread_usage.h"
#include "microbench/benchmarks.h"
#include "microbench/collective.h"
#include "microbench/computation.h"

namespace workloads::collective_overlap {
namespace {

constexpr auto own_part = "own_part";

const Parameters& parameters() {
  constexpr std::int64_t most_before = 1'000;
  static const Parameters table{
      {
          .name = "collective",
          .domain = collective_names(),
          .unit = "",
          .meaning = "the collective, with rank 0 as its root",
          .default_value = nullptr,
      },
      size_parameter(nullptr),
      work_units_parameter(nullptr),
      work_parameter(),
      compute_parameter(),
      test_every_parameter(),
      {
          .name = "back_to_back",
          .domain = IntegerRange{.minimum = 0, .maximum = most_before},
          .unit = "1",
          .meaning = "so many of the same right before the measured one, with a barrier between and no pause",
          .default_value = 0,
      },
      {
          .name = "computes_for",
          .domain = Choices{"work_units", own_part},
          .unit = "",
          .meaning =
              "how long: the work, or as long as this rank's own part of the collective alone took lately, as in "
              "OSU's and IMB's benchmarks; work_units is then where it begins",
          .default_value = "work_units",
      },
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities own{seconds("own_comm_s")};
  static const Quantities table = joined(overlap_quantities(), own);
  return table;
}

void check(const Json& point, int ranks) {
  const auto collective = choice_of(point, parameters(), "collective");
  const auto size = size_of(point, parameters());
  if (ranks < 2) {
    throw UsageError("a collective needs 2 ranks at least, and there is 1");
  }
  if (is_reduction(collective) && size % sizeof(std::uint64_t) != 0) {
    throw UsageError(
        fmt::format("{} adds numbers of 8 bytes: size_bytes = {} is not a multiple of 8", collective, size));
  }
}

class CollectiveOverlap final : public Experiment {
 public:
  explicit CollectiveOverlap(const Preparation& preparation)
      : collective_(choice_of(preparation.point, parameters(), "collective"), preparation.mpi,
                    size_of(preparation.point, parameters())),
        computation_(preparation, parameters()),
        role_(preparation.mpi.is_root() ? "root" : "other"),
        before_(integer_of(preparation.point, parameters(), "back_to_back")),
        for_own_part_(choice_of(preparation.point, parameters(), "computes_for") == own_part),
        settle_s_(preparation.settle_s) {}

  [[nodiscard]] std::string role() const override { return role_; }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static const auto names = names_of(quantity_table());
    return names;
  }

  std::string repeat(std::span<double> values) override {
    const OverlapRun alone = run(false);
    timed_barrier();
    const double own_s = alone.post_s + alone.wait_s;
    if (for_own_part_) {
      own_part_s_ = own_part_s_ == 0 ? own_s : (own_part_s_ + own_s) / 2;
      computation_.set_duration(own_part_s_);
      timed_barrier();
    }
    const double comp_s = computation_.alone();
    const OverlapRun beside = run(true);
    timed_barrier();
    values[overlap_quantities_count] = own_s;
    return write_overlap(alone, comp_s, beside, timed_barrier(), values);
  }

 private:
  OverlapRun run(bool computing) {
    // Written once: of several one after the other what the last one should bring is there before it.
    collective_.fill(++seed_);
    spin_for(settle_s_);
    for (std::int64_t done = 0; done < before_; ++done) {
      once(computing);
    }
    OverlapRun times = once(computing);
    times.problem = collective_.check(seed_);
    return times;
  }

  OverlapRun once(bool computing) {
    timed_barrier();
    OverlapRun times;
    const Usage before = read_usage();
    const auto begin = Clock::now();
    MPI_Request request = collective_.start();
    const auto started = Clock::now();
    if (computing) {
      times.inside = computation_.beside(request);
    }
    const auto waiting = Clock::now();
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): it was started by start(), out of the checker's sight
    require(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    times.wait_s = seconds_since(waiting);
    timed_barrier();
    times.total_s = seconds_since(begin);
    times.usage = read_usage() - before;
    times.post_s = seconds_between(begin, started);
    return times;
  }

  Collective collective_;
  Computation computation_;
  std::string role_;
  std::int64_t before_;
  bool for_own_part_;
  double own_part_s_ = 0;  ///< of this rank lately: each repetition counts half as much as the next one
  double settle_s_;
  std::uint64_t seed_ = 0;
};

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  return std::make_unique<CollectiveOverlap>(preparation);
}

}  // namespace
}  // namespace workloads::collective_overlap

namespace workloads {

const Benchmark& collective_overlap_benchmark() {
  static const Benchmark benchmark{
      .name = "collective-overlap",
      .question = "Does a nonblocking collective progress while its ranks compute?",
      .parameters = collective_overlap::parameters(),
      .quantities = collective_overlap::quantity_table(),
      .check = collective_overlap::check,
      .prepare = collective_overlap::prepare,
      .calibration = &calibration_benchmark(),
  };
  return benchmark;
}

}  // namespace workloads
