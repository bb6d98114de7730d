// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "common/experiment.h"
#include "common/stop_rule.h"

namespace workloads {

/// What repeating an experiment gave, on this rank.
struct Samples {
  std::vector<std::vector<double>> values;  ///< a vector a quantity, in the experiment's order
  std::vector<double> armed;                ///< with on_off: of each repetition, 1 where the engine was on, 0 paused
  int warmup = 0;                           ///< repetitions discarded
  bool converged = false;
  Decision end = Decision::go_on;  ///< why it ended, the same on all ranks
  std::string problem;             ///< what this rank found wrong
};

/// Repeats until rank 0 has enough, or any rank fails or is interrupted. Collective.
Samples collect(const MpiProcess& mpi, Experiment& experiment, const SamplerOptions& options);

/// UsageError on all ranks if there is no engine that on_off could pause. Collective.
void require_engine_to_pause(const MpiProcess& mpi);

}  // namespace workloads
