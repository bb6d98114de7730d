// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/experiment.h"

namespace workloads {

const Benchmark& ep_benchmark();
const Benchmark& is_benchmark();
const Benchmark& cg_benchmark();
const Benchmark& mg_benchmark();
const Benchmark& ft_benchmark();
const Benchmark& lu_benchmark();
const Benchmark& npb_suite_benchmark();

}  // namespace workloads
