// SPDX-License-Identifier: BSD-3-Clause
// What a rank does in a solve of miniFE, in numbers: the steps are those of workloads/minife/method.h, carried out by
// nobody but written down.
#pragma once

#include <cstdint>
#include <vector>

#include "run.h"

namespace simulated {

/// One thing after the other. The calls are those of workloads/minife/method.h.
struct SolveStep {
  enum class Kind : std::uint8_t { compute, post_receives, send, start_sends, wait, sum, start_sums, finish_sums };
  Kind kind;
  Seconds work = 0;  ///< compute
  Bytes bytes = 0;   ///< sum, start_sums: of the vector that all add up
};
using SolveSteps = std::vector<SolveStep>;

struct Neighbour {
  int rank;
  Bytes out;
  Bytes in;
};

/// As workloads::minife::Method has them.
struct Solve {
  std::vector<Neighbour> neighbours;
  SolveSteps begin;
  SolveSteps to_the_test;
  SolveSteps behind_it;
  SolveSteps replacement;
};

/// `byte`: seconds that one of the matrix or a vector takes. The point must have been checked.
Solve solve_of(const Json& point, int rank, int ranks, Seconds byte);

}  // namespace simulated
