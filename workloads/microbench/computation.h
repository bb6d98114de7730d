// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks of overlap share. The computation beside a communication: fixed work, with or without manual
// progression (MPI_Test every so many units), the baseline of all papers on asynchronous progress.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "common/experiment.h"
#include "common/fixed_work.h"
#include "common/thread_usage.h"

namespace workloads {

/// Seconds.
struct ComputationTimes {
  double elapsed_s = 0;  ///< the section from its first to its last instruction, tests included
  double test_s = 0;     ///< in MPI_Test
};

class Computation {
 public:
  /// The point's work_units (times the slowdown), work and test_every, which `parameters` must have.
  Computation(const Preparation& preparation, const Parameters& parameters);

  /// This rank computes nothing.
  void skip() noexcept { units_ = 0; }

  /// The work alone, no test. Seconds; exactly 0 where there is nothing to do.
  double alone();

  /// The same work; tests `request` as asked until it is complete (then it is MPI_REQUEST_NULL).
  ComputationTimes beside(MPI_Request& request);

 private:
  std::unique_ptr<FixedWork> work_;
  std::uint64_t units_;
  std::uint64_t test_every_;
};

/// What every benchmark of overlap records in a repetition; metrics are made of it elsewhere. Seconds.
struct OverlapSample {
  double total_s = 0;  ///< start, computation, completion on all sides
  double comm_s = 0;   ///< the same without computation
  double comp_s = 0;   ///< the computation alone
  ComputationTimes inside;
  double post_s = 0;
  double wait_s = 0;
  double ack_s = 0;  ///< of what closes total_s and comm_s, alone
  Usage usage;       ///< during total_s

  static constexpr std::size_t quantities_count = 13;
  static std::span<const std::string_view> quantities();
  /// In the order of quantities().
  void write(std::span<double> values) const;
};

}  // namespace workloads
