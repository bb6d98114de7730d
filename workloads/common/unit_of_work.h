// SPDX-License-Identifier: BSD-3-Clause
// How long one unit of a fixed amount of work takes: what amounts of work are chosen from.
#pragma once

#include "common/clock.h"
#include "common/mpi_process.h"

namespace workloads {

/// Seconds of this thread's CPU that one unit of `work` takes while all ranks compute, as they do in what is
/// calibrated. CPU time: who shares the core for the moment of the calibration would otherwise halve all the work of a
/// session. Collective.
template <typename Work>
double unit_of(Work& work) {
  constexpr int units = 10'000;  // some ten milliseconds, as long as the computations that are made of it
  timed_barrier();
  const double begin = thread_cpu_s();
  work.run(units);
  return (thread_cpu_s() - begin) / units;
}

}  // namespace workloads
