// SPDX-License-Identifier: BSD-3-Clause
// The parameters that the benchmarks of this folder share.
#pragma once

#include <cstdint>

#include "common/experiment.h"

namespace workloads {

Parameter threading_parameter(std::vector<std::string> choices);
Parameter count_parameter(const std::string& name, const Json& default_value);
Parameter cores_parameter();
Parameter bytes_parameter(std::int64_t default_value);
Parameter mat_size_parameter();

/// The point's "cores", or as many as CPUs on which this process may run.
std::size_t workers_of(const Json& point, const Parameters& parameters);

}  // namespace workloads
