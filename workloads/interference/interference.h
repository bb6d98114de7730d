// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/experiment.h"

namespace workloads {

/// Studies interference, interference-network and detection-latency; see interference.cpp.
const Benchmark& ping_pong_benchmark();

}  // namespace workloads
