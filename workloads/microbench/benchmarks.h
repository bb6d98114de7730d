// SPDX-License-Identifier: BSD-3-Clause
// The table of benchmarks, and what several of them share.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/experiment.h"
#include "common/fixed_work.h"
#include "common/program.h"
#include "microbench/transfer.h"

namespace workloads {

const Benchmark& overlap_benchmark();
const Benchmark& calibration_benchmark();

/// All that `microbench --list` shows. A new benchmark is a file and a line in benchmarks.cpp.
const std::vector<const Benchmark*>& benchmarks();

inline constexpr std::int64_t largest_work = 1'000'000'000'000;  // months

Parameter size_parameter(const Json& default_value);
Parameter work_parameter();
Parameter receive_parameter();
WorkKind work_of(const Json& point, const Parameters& parameters);
ReceivePosting posting_of(const Json& point, const Parameters& parameters);
std::size_t size_of(const Json& point, const Parameters& parameters);

}  // namespace workloads
