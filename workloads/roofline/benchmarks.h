// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/experiment.h"

namespace workloads {

const Benchmark& triad_benchmark();
const Benchmark& peak_benchmark();

}  // namespace workloads
