// SPDX-License-Identifier: BSD-3-Clause
// What every benchmark of overlap records in a repetition; metrics are made of it elsewhere.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/machine.h"
#include "common/quantities.h"

namespace workloads {

/// A computation beside a communication. Seconds.
struct ComputationTimes {
  double elapsed_s = 0;  ///< the section from its first to its last instruction, tests included
  double test_s = 0;     ///< in MPI_Test
};

/// A communication as a whole, with a computation in it or without. Seconds.
struct OverlapRun {
  double total_s = 0;  ///< start, computation, completion on all sides
  double post_s = 0;   ///< in what starts it
  double wait_s = 0;   ///< in what completes it
  ComputationTimes inside;
  Usage usage;          ///< of the process during total_s
  std::string problem;  ///< what is wrong with what was received; empty if nothing
};

constexpr std::size_t overlap_quantities_count = 13;
const Quantities& overlap_quantities();
/// Those, and of halos arrived_early and changed_early: the share of them, and of all places looked at in them, that
/// was there before the wait.
const Quantities& halo_quantities();

/// Writes, in the order of overlap_quantities(), the sample that a communication `alone`, the computation alone (its
/// `comp_s`) and both together make; `ack_s` is what closes total_s, alone. Returns what is wrong, or nothing.
std::string write_overlap(const OverlapRun& alone, double comp_s, const OverlapRun& beside, double ack_s,
                          std::span<double> values);

}  // namespace workloads
