// SPDX-License-Identifier: BSD-3-Clause
// miniGhost (R. F. Barrett, C. T. Vaughan, M. A. Heroux, "miniGhost: a miniapp for exploring boundary exchange
// strategies using stencil computations", SAND2012-10431): its patterns, written anew.
#pragma once

#include "common/experiment.h"

namespace workloads {

const Benchmark& minighost_solve_benchmark();
const Benchmark& minighost_exchange_benchmark();
const Benchmark& minighost_calibration_benchmark();

}  // namespace workloads
