// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/experiment.h"

namespace workloads {

const Benchmark& himeno_benchmark();

}  // namespace workloads
