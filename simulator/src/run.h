// SPDX-License-Identifier: BSD-3-Clause
// A simulated launch: all ranks of one program, on one network, under one variant.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "common/quantities.h"
#include "rank.h"
#include "task.h"

namespace simulated {

using workloads::Json;
using workloads::Quantities;

/// What one rank measured at a point: a value a quantity, and its part.
struct Measured {
  std::string role;
  std::vector<std::pair<std::string_view, double>> values;
};

/// One point of a benchmark as every rank runs it.
struct Pattern {
  std::string_view name;              ///< as the workload calls it: overlap
  const Quantities& (*quantities)();  ///< that its points record
  /// UsageError where the point cannot be run by so many ranks.
  void (*check)(const Json& point, int ranks);
  Task (*run)(Rank& rank, Fence& fence, const Json& point, Measured& measured);
  /// Why a point that the workload could run has no model; empty if it has one. Null: all have.
  std::string (*why_not)(const Json& point) = nullptr;
};

/// The benchmark of this program, null where it has no model.
const Pattern* pattern_of(const std::string& program, const std::string& benchmark);

/// What stands in a file of patterns; in pattern_of's table.
extern const Pattern overlap;
extern const Pattern collective_overlap;
extern const Pattern calibration;
extern const Pattern halo_exchange;
extern const Pattern fourier_transform;
extern const Pattern conjugate_gradients;

/// Ranks that are made anew for each launch; a point begins when the one before has ended on all of them.
class Run {
 public:
  /// UsageError where the platform has too few hosts.
  Run(Network& network, const Model& model, const Variant& variant, int ranks);
  /// What every rank measured at each point, in the order of the ranks.
  std::vector<std::vector<Measured>> points(const std::vector<std::pair<const Pattern*, Json>>& points);
  [[nodiscard]] const std::vector<std::unique_ptr<Rank>>& ranks() const { return ranks_; }
  /// Repetitions of each point that are not kept: one where an engine polls, which learns in it.
  [[nodiscard]] int warmup() const { return warmup_; }

 private:
  Network& network_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  int warmup_;
};

/// co_await: everybody's dissemination barrier, which is a real one with its messages.
Task real_barrier(Rank& rank);

}  // namespace simulated
