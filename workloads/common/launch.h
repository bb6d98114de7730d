// SPDX-License-Identifier: BSD-3-Clause
// A launch from its options to its record; the same for every workload.
#pragma once

#include <string>
#include <vector>

#include "common/experiment.h"
#include "common/launch_options.h"
#include "common/network_counters.h"

namespace workloads {

/// A point with the benchmark that measures it.
struct PlannedPoint {
  const Benchmark* benchmark;
  Json point;
};

struct Launch {
  std::string workload;
  Quantities quantities;  ///< of all that its points are measured by
  std::vector<std::string> arguments;
  LaunchOptions options;
  NetworkCounters counters_at_start;
};

/// The points that the options name: --points first, then --point. Reads on rank 0 and shares. UsageError on all ranks.
std::vector<Json> read_points(const MpiProcess& mpi, const LaunchOptions& options);

/// Checks everything, then measures point by point and records. A failed point does not stop those after it.
/// Returns the exit status (0 all ok, 1 something failed or was interrupted). UsageError, Failure on all ranks.
int run_launch(const MpiProcess& mpi, const Launch& launch, const std::vector<PlannedPoint>& points);

/// Makes the MPI process and calls `body` with it. Errors become one sentence of rank 0 and the exit status.
int run_with_mpi(const std::string& program, const std::string& level,
                 const std::function<int(const MpiProcess&)>& body);

}  // namespace workloads
