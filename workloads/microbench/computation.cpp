// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/computation.h"

#include <algorithm>
#include <cmath>

#include "common/clock.h"
#include "common/fixed_work.h"
#include "microbench/benchmarks.h"

namespace workloads {
namespace {

bool tests(const Parameters& parameters) {
  return std::ranges::any_of(parameters, [](const Parameter& one) { return one.name == "test_every"; });
}

/// Seconds that it took.
double test(MPI_Request& request) {
  const auto begin = Clock::now();
  int complete = 0;
  require(MPI_Test(&request, &complete, MPI_STATUS_IGNORE));
  return seconds_since(begin);
}

}  // namespace

Computation::Computation(const Preparation& preparation, const Parameters& parameters, int parts)
    : work_(is_slept(preparation.point, parameters) ? nullptr
                                                    : make_fixed_work(work_of(preparation.point, parameters))),
      units_(units_of(preparation, parameters) / static_cast<std::uint64_t>(parts)),
      test_every_(
          tests(parameters) ? static_cast<std::uint64_t>(integer_of(preparation.point, parameters, "test_every")) : 0),
      slowdown_(preparation.slowdown) {}

void Computation::compute(std::uint64_t units) noexcept {
  if (work_) {
    work_->run(units);
  } else {
    sleep_units(units);
  }
}

double Computation::alone() {
  if (units_ == 0) {
    return 0;
  }
  const auto begin = Clock::now();
  compute(units_);
  const double elapsed_s = seconds_since(begin);
  unit_s_ = elapsed_s / static_cast<double>(units_);
  return elapsed_s;
}

void Computation::set_duration(double seconds) {
  if (unit_s_ == 0) {
    alone();
  }
  if (unit_s_ > 0) {
    units_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(seconds * slowdown_ / unit_s_)));
  }
}

ComputationTimes Computation::beside(MPI_Request& request) {
  if (test_every_ == 0 || units_ == 0) {
    return {.elapsed_s = alone()};
  }
  ComputationTimes times;
  const auto begin = Clock::now();
  for (std::uint64_t done = 0; done < units_; done += test_every_) {
    compute(std::min(test_every_, units_ - done));
    if (request != MPI_REQUEST_NULL) {
      times.test_s += test(request);
    }
  }
  times.elapsed_s = seconds_since(begin);
  return times;
}

}  // namespace workloads
