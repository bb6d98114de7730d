// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/computation.h"

#include <algorithm>
#include <cmath>

#include "common/clock.h"
#include "microbench/benchmarks.h"

namespace workloads {
namespace {

/// Seconds that it took.
double test(MPI_Request& request) {
  const auto begin = Clock::now();
  int complete = 0;
  require(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
  return seconds_since(begin);
}

}  // namespace

Computation::Computation(const Preparation& preparation, const Parameters& parameters)
    : work_(make_fixed_work(work_of(preparation.point, parameters))),
      units_(units_of(preparation, parameters)),
      test_every_(static_cast<std::uint64_t>(integer_of(preparation.point, parameters, "test_every"))) {}

double Computation::alone() {
  if (units_ == 0) {
    return 0;
  }
  const auto begin = Clock::now();
  work_->run(units_);
  return seconds_since(begin);
}

ComputationTimes Computation::beside(MPI_Request& request) {
  if (test_every_ == 0 || units_ == 0) {
    return {.elapsed_s = alone()};
  }
  ComputationTimes times;
  const auto begin = Clock::now();
  for (std::uint64_t done = 0; done < units_; done += test_every_) {
    work_->run(std::min(test_every_, units_ - done));
    if (request != MPI_REQUEST_NULL) {
      times.test_s += test(request);
    }
  }
  times.elapsed_s = seconds_since(begin);
  return times;
}

}  // namespace workloads
