// SPDX-License-Identifier: BSD-3-Clause
// The record of a launch: a header, a line for each point and rank, an end (results/schema/record.schema.json).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/experiment.h"
#include "common/json.h"
#include "common/machine.h"
#include "common/mpi_process.h"
#include "common/quantities.h"
#include "common/sampler.h"

namespace workloads {

struct RecordHeader {
  std::string workload;
  Quantities quantities;  ///< all that its points can record
  Json context;
  std::vector<std::string> arguments;
};

/// Gathers from all ranks and writes on rank 0. All functions are collective and throw Failure on all ranks if rank 0
/// cannot write.
class Recorder {
 public:
  /// `path` as in RecordFile, `at_start` read before MPI's own start-up. UsageError on all ranks if rank 0 cannot open
  /// it.
  Recorder(const MpiProcess& mpi, const std::string& path, NetworkCounters at_start);

  void header(const RecordHeader& header);
  /// One line a rank; `before` is this rank's noise at the point's begin.
  /// Takes the experiment's distributions.
  void point(const Json& point, Experiment& experiment, const Samples& samples, const Noise& before);
  /// One line, with the first reason that a rank gives; returns it.
  std::string failed_point(const Json& point, const std::string& reason);
  /// `status` of the schema, and why.
  void end(const std::string& status, const std::string& reason);

  [[nodiscard]] const std::vector<int>& allowed_cpus() const noexcept { return allowed_cpus_; }

 private:
  void write(const std::vector<Json>& lines);
  [[nodiscard]] std::vector<Json> gather_ranks(const Json& mine) const;

  const MpiProcess& mpi_;
  NetworkCounters counters_at_start_;
  Clock::time_point begin_ = Clock::now();
  EnergyMeter energy_;
  std::vector<int> allowed_cpus_;
  std::set<int> cpus_observed_;
  Quantities declared_;
  std::optional<RecordFile> file_;
};

}  // namespace workloads
