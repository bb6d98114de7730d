// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/experiment.h"

namespace workloads {

/// Study tasks; see contention.cpp.
const Benchmark& contention_benchmark();

}  // namespace workloads
