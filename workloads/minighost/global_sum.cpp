// SPDX-License-Identifier: BSD-3-Clause
#include "minighost/global_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/clock.h"
#include "common/mpi_process.h"

namespace workloads::minighost {

Parameter reduction_parameter() {
  return {
      .name = "reduction",
      .domain = Choices{"none", "blocking", "late"},
      .unit = "",
      .meaning =
          "the sums over the grid after each step: none; MPI_Allreduce; MPI_Iallreduce that completes one step "
          "later",
      .default_value = "none",
  };
}

GlobalSum::GlobalSum(std::string reduction, std::vector<double> expected)
    : reduction_(std::move(reduction)),
      expected_(std::move(expected)),
      mine_(expected_.size()),
      sums_(expected_.size()) {}

void GlobalSum::restart() {
  elapsed_s_ = 0;
  steps_ = 0;
  problem_.clear();
}

void GlobalSum::add(std::span<const double> mine) {
  finish();
  std::ranges::copy(mine, mine_.begin());
  const auto count = static_cast<int>(mine_.size());
  const auto begin = Clock::now();
  if (reduction_ == "late") {
    require(MPI_Iallreduce(mine_.data(), sums_.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request_),
            "MPI_Iallreduce");
    elapsed_s_ += seconds_since(begin);
    return;
  }
  require(MPI_Allreduce(mine_.data(), sums_.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  elapsed_s_ += seconds_since(begin);
  check();
}

void GlobalSum::finish() {
  if (request_ == MPI_REQUEST_NULL) {
    return;
  }
  const auto begin = Clock::now();
  // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): add() has started it
  require(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  elapsed_s_ += seconds_since(begin);
  check();
}

void GlobalSum::check() {
  constexpr double rounding = 1e-11;
  ++steps_;
  for (std::size_t variable = 0; variable < sums_.size() && problem_.empty(); ++variable) {
    const double right = expected_[variable];
    if (!(std::abs(sums_[variable] - right) <= rounding * right)) {
      problem_ = fmt::format("variable {}: the sum over the grid was {:.15g} after step {}, and {:.15g} is conserved",
                             variable, sums_[variable], steps_, right);
    }
  }
}

}  // namespace workloads::minighost
