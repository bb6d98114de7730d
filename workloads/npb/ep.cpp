// SPDX-License-Identifier: BSD-3-Clause
// NPB EP: what computation costs where nothing is communicated but ten counts at the end.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/errors.h"
#include "npb/ep_kernel.h"
#include "npb/npb.h"

namespace workloads::npb::ep {
namespace {

Choices class_names() {
  Choices names;
  for (const auto& problem : ep_classes()) {
    names.emplace_back(problem.name);
  }
  return names;
}

const Parameters& parameters() {
  static const Parameters table{
      choice_parameter("class", class_names(),
                       "the problem's size: 2^24 (S), 2^25 (W), 2^28 (A), 2^30 (B) or 2^32 (C) pairs", "S"),
  };
  return table;
}

const EpClass& problem_of(const Json& point) { return find_class(ep_classes(), point); }

std::uint64_t batches_of(const EpClass& problem) {
  return (std::uint64_t{1} << static_cast<unsigned>(problem.log2_pairs)) / pairs_a_batch;
}

void check(const Json& point, int ranks) {
  const auto& problem = problem_of(point);
  if (static_cast<std::uint64_t>(ranks) > batches_of(problem)) {
    throw UsageError(fmt::format("class {} has {} batches of pairs, too few for {} ranks: take a larger class",
                                 problem.name, batches_of(problem), ranks));
  }
}

class Ep final : public Kernel {
 public:
  explicit Ep(const Preparation& preparation) : problem_(problem_of(preparation.point)) {
    const auto rank = static_cast<std::uint64_t>(preparation.mpi.rank());
    const auto ranks = static_cast<std::uint64_t>(preparation.mpi.size());
    first_ = batches_of(problem_) * rank / ranks;
    last_ = batches_of(problem_) * (rank + 1) / ranks;
  }

  void restart() override {}  // all of it is made in the time that is measured

  void run(Phases& phases) override {
    const EpSums mine = deviates_.run(first_, last_);
    phases.communicate([&] { sums_ = total(mine); });
  }

  std::string verify() override {
    if (is_right(problem_, sums_)) {
      return {};
    }
    return fmt::format("class {}: the sums are {:.15e} and {:.15e}, and {:.15e} and {:.15e} are right", problem_.name,
                       sums_.x, sums_.y, problem_.x, problem_.y);
  }

  /// Numbers made.
  [[nodiscard]] double operations() const override { return std::ldexp(1.0, problem_.log2_pairs + 1); }

 private:
  static EpSums total(const EpSums& mine) {
    std::array<double, 2 + annuli> values{mine.x, mine.y};
    std::ranges::copy(mine.counts, values.begin() + 2);
    require(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                          MPI_COMM_WORLD));
    EpSums sums{.x = values[0], .y = values[1]};
    std::copy(values.begin() + 2, values.end(), sums.counts.begin());
    return sums;
  }

  const EpClass& problem_;
  EpKernel deviates_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  EpSums sums_;  ///< of all ranks
};

}  // namespace
}  // namespace workloads::npb::ep

const workloads::Benchmark& workloads::ep_benchmark() {
  static const Benchmark benchmark{
      .name = "ep",
      .question = "NPB EP: how long does a computation take that communicates only at its end?",
      .parameters = npb::ep::parameters(),
      .quantities = kernel_quantities(),
      .check = npb::ep::check,
      .prepare = make_kernel<npb::ep::Ep>,
  };
  return benchmark;
}
