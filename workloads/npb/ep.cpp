// SPDX-License-Identifier: BSD-3-Clause
// NPB EP: what computation costs where nothing is communicated but ten counts at the end.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>

#include "common/clock.h"
#include "common/errors.h"
#include "common/thread_usage.h"
#include "npb/benchmarks.h"
#include "npb/ep_kernel.h"

namespace workloads {
namespace {

Choices class_names() {
  Choices names;
  for (const auto& problem : npb::ep_classes()) {
    names.emplace_back(problem.name);
  }
  return names;
}

const Parameters& parameters() {
  static const Parameters table{
      {
          .name = "class",
          .domain = class_names(),
          .unit = "",
          .meaning = "the problem's size: 2^24 (S), 2^25 (W), 2^28 (A), 2^30 (B) or 2^32 (C) pairs",
          .default_value = "S",
      },
  };
  return table;
}

const npb::EpClass& class_of(const Json& point) {
  return *std::ranges::find(npb::ep_classes(), choice_of(point, parameters(), "class"), &npb::EpClass::name);
}

std::uint64_t batches_of(const npb::EpClass& problem) {
  return (std::uint64_t{1} << static_cast<unsigned>(problem.log2_pairs)) / npb::pairs_a_batch;
}

void check(const Json& point, int ranks) {
  const auto& problem = class_of(point);
  if (static_cast<std::uint64_t>(ranks) > batches_of(problem)) {
    throw UsageError(fmt::format("class {} has {} batches of pairs, too few for {} ranks: take a larger class",
                                 problem.name, batches_of(problem), ranks));
  }
}

class Ep final : public Experiment {
 public:
  explicit Ep(const Preparation& preparation) : problem_(class_of(preparation.point)), slowdown_(preparation.slowdown) {
    const auto rank = static_cast<std::uint64_t>(preparation.mpi.rank());
    const auto ranks = static_cast<std::uint64_t>(preparation.mpi.size());
    first_ = batches_of(problem_) * rank / ranks;
    last_ = batches_of(problem_) * (rank + 1) / ranks;
  }

  [[nodiscard]] std::string role() const override { return "rank"; }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static constexpr std::array<std::string_view, quantities_count> names{
        "elapsed_s",
        "comp_s",
        "comm_s",
        "mops",
        "cpu_s",
        "sum_x",
        "sum_y",
        "application_involuntary_switches",
        "other_voluntary_switches",
    };
    return names;
  }

  std::string repeat(std::span<double> values) override {
    require(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    const Usage usage = read_usage();
    const auto begin = Clock::now();
    npb::EpSums sums = kernel_.run(first_, last_);
    if (slowdown_ > 1) {
      spin_for(seconds_since(begin) * (slowdown_ - 1));
    }
    const auto computed = Clock::now();
    sums = total(sums);
    const auto end = Clock::now();
    const double elapsed_s = seconds_between(begin, end);
    const auto used = read_usage() - usage;
    const std::array<double, quantities_count> measured{
        elapsed_s,
        seconds_between(begin, computed),
        seconds_between(computed, end),
        std::ldexp(1.0, problem_.log2_pairs + 1) / elapsed_s / 1e6,  // numbers made, as NPB counts them
        used.cpu_s,
        sums.x,
        sums.y,
        static_cast<double>(used.application.involuntary),
        static_cast<double>(used.other.voluntary),
    };
    std::ranges::copy(measured, values.begin());
    return verify(sums);
  }

 private:
  static constexpr std::size_t quantities_count = 9;

  static npb::EpSums total(const npb::EpSums& mine) {
    std::array<double, 2 + npb::annuli> values{mine.x, mine.y};
    std::ranges::copy(mine.counts, values.begin() + 2);
    require(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                          MPI_COMM_WORLD),
            "MPI_Allreduce");
    npb::EpSums sums{.x = values[0], .y = values[1]};
    std::copy(values.begin() + 2, values.end(), sums.counts.begin());
    return sums;
  }

  [[nodiscard]] std::string verify(const npb::EpSums& sums) const {
    if (npb::is_right(problem_, sums)) {
      return {};
    }
    return fmt::format("class {}: the sums are {:.15e} and {:.15e}, and {:.15e} and {:.15e} are right", problem_.name,
                       sums.x, sums.y, problem_.x, problem_.y);
  }

  const npb::EpClass& problem_;
  double slowdown_;
  npb::EpKernel kernel_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

std::unique_ptr<Experiment> prepare(const Preparation& preparation) { return std::make_unique<Ep>(preparation); }

}  // namespace

const Benchmark& ep_benchmark() {
  static const Benchmark benchmark{
      .name = "ep",
      .question = "NPB EP: how long does a computation take that communicates only at its end?",
      .parameters = parameters(),
      .check = check,
      .prepare = prepare,
  };
  return benchmark;
}

}  // namespace workloads
