// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks of overlap share. The computation beside a communication: fixed work, with or without manual
// progression (MPI_Test every so many units), the baseline of all papers on asynchronous progress.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "common/experiment.h"
#include "common/fixed_work.h"
#include "common/overlap_sample.h"

namespace workloads {

class Computation {
 public:
  /// The point's work_units (times the slowdown), work and compute, which `parameters` must have, and test_every, which
  /// those of a benchmark without a request to test have not. `parts`: all functions do one of so many equal parts.
  Computation(const Preparation& preparation, const Parameters& parameters, int parts = 1);

  /// This rank computes nothing.
  void skip() noexcept { units_ = 0; }

  /// From now on the work is what took `seconds` when it was done alone last, times the slowdown: a unit at least.
  /// Where there is nothing to do that stays so.
  void set_duration(double seconds);

  /// The work alone, no test. Seconds; exactly 0 where there is nothing to do.
  double alone();

  /// The same work; tests `request` as asked until it is complete (then it is MPI_REQUEST_NULL).
  ComputationTimes beside(MPI_Request& request);

 private:
  void compute(std::uint64_t units) noexcept;

  std::unique_ptr<FixedWork> work_;  ///< null where it is slept
  std::uint64_t units_;
  std::uint64_t test_every_;
  double slowdown_;
  double unit_s_ = 0;  ///< that one took in alone(); 0 before the first
};

}  // namespace workloads
