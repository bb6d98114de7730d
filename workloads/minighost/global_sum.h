// SPDX-License-Identifier: BSD-3-Clause
// The sums over the whole grid after each step, one a variable: when they are reduced over the ranks.
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <vector>

#include "common/parameters.h"

namespace workloads::minighost {

/// "reduction": none; blocking (MPI_Allreduce in the step); late (MPI_Iallreduce, complete one step later).
Parameter reduction_parameter();

/// Collective in all but its readers. What is started is completed before the end.
class GlobalSum {
 public:
  /// `reduction`: a value of reduction_parameter(). `expected`: what each variable's sum is after any step.
  GlobalSum(std::string reduction, std::vector<double> expected);

  [[nodiscard]] bool is_wanted() const { return reduction_ != "none"; }
  void restart();
  /// This rank's part after a step. Late: the step before is completed first.
  void add(std::span<const double> mine);
  /// Completes the last step.
  void finish();

  /// In MPI calls since restart().
  [[nodiscard]] double elapsed_s() const noexcept { return elapsed_s_; }
  /// Steps whose sums are known, and the first that was wrong in a sentence; empty if none was.
  [[nodiscard]] int steps() const noexcept { return steps_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  void check();

  std::string reduction_;
  std::vector<double> expected_;
  std::vector<double> mine_;  ///< not touched while the request is under way
  std::vector<double> sums_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  double elapsed_s_ = 0;
  int steps_ = 0;
  std::string problem_;
};

}  // namespace workloads::minighost
