// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/experiment.h"
#include "common/fixed_work.h"

namespace workloads {

/// When the receive is posted: before the send can start, or by the receiver's first step after the start, when the
/// message may be there already.
enum class ReceivePosting : std::uint8_t { preposted, late };

// The table of benchmarks, and what several of them share.

const Benchmark& overlap_benchmark();
const Benchmark& collective_overlap_benchmark();
const Benchmark& rma_progress_benchmark();
const Benchmark& partitioned_overlap_benchmark();
const Benchmark& host_overhead_benchmark();
const Benchmark& latency_benchmark();
const Benchmark& n_load_benchmark();
const Benchmark& one_to_many_benchmark();
const Benchmark& many_to_many_benchmark();
const Benchmark& context_switches_benchmark();
const Benchmark& node_pairs_benchmark();
const Benchmark& calibration_benchmark();

/// All that `microbench --list` shows. A new benchmark is a file and a line in microbench.cpp.
const std::vector<const Benchmark*>& benchmarks();

inline constexpr std::int64_t largest_work = 1'000'000'000'000;  // months

Parameter size_parameter(const Json& default_value);
inline constexpr int ping_pong_tag = 200;  // and the numbers behind it, one a thread

Parameter work_parameter();
Parameter work_units_parameter(const Json& default_value);
Parameter test_every_parameter();
Parameter receive_parameter();
WorkKind work_of(const Json& point, const Parameters& parameters);
ReceivePosting posting_of(const Json& point, const Parameters& parameters);
/// The point's work_units times the slowdown.
std::uint64_t units_of(const Preparation& preparation, const Parameters& parameters);
std::size_t size_of(const Json& point, const Parameters& parameters);

}  // namespace workloads
