// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/experiment.h"

namespace workloads {

const Benchmark& concurrent_latency_benchmark();
const Benchmark& ult_overlap_benchmark();
const Benchmark& waiting_benchmark();

}  // namespace workloads
