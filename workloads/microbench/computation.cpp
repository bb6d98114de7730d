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

std::span<const std::string_view> OverlapSample::quantities() {
  static constexpr std::array<std::string_view, quantities_count> names{
      "total_s",
      "comm_s",
      "comp_s",
      "comp_in_s",
      "post_s",
      "wait_s",
      "test_s",
      "ack_s",
      "cpu_s",
      "application_voluntary_switches",
      "application_involuntary_switches",
      "other_voluntary_switches",
      "other_involuntary_switches",
  };
  return names;
}

void OverlapSample::write(std::span<double> values) const {
  const std::array<double, quantities_count> measured{
      total_s,
      comm_s,
      comp_s,
      inside.elapsed_s,
      post_s,
      wait_s,
      inside.test_s,
      ack_s,
      usage.cpu_s,
      static_cast<double>(usage.application.voluntary),
      static_cast<double>(usage.application.involuntary),
      static_cast<double>(usage.other.voluntary),
      static_cast<double>(usage.other.involuntary),
  };
  std::ranges::copy(measured, values.begin());
}

}  // namespace workloads
