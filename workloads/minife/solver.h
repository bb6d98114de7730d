// SPDX-License-Identifier: BSD-3-Clause
// What the two programs of this folder share: the problem as a point gives it, and its repetition.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/experiment.h"
#include "minife/conjugate_gradient.h"

namespace workloads::minife {

/// UsageError where the ranks cannot share the grid, or their memory does not hold it. Collective.
void check_problem(const Json& point, const Parameters& parameters, int ranks, Reductions reductions);

/// How a point is solved.
struct Way {
  std::function<std::unique_ptr<Product>(const Block&)> product;
  Reductions reductions;
  std::vector<Call> calls;  ///< those that it makes
  bool packets = false;     ///< of each call, and outside of calls
  std::string role = "rank";
  /// Runs the solve, in the thread that it is to run in; null: the caller's.
  std::function<void(const std::function<void()>&)> inside;
};

/// Assembles once; each repetition solves, and verifies the solution.
std::unique_ptr<Experiment> solver(const Preparation& preparation, const Parameters& parameters, Way way);

}  // namespace workloads::minife
