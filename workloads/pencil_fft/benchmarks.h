// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/experiment.h"

namespace workloads {

const Benchmark& pencil_fft_benchmark();

}  // namespace workloads
