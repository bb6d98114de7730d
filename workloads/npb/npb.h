// SPDX-License-Identifier: BSD-3-Clause
// What NPB's kernels have in common, and each of them as a benchmark.
#pragma once

#include <string>

#include "common/experiment.h"
#include "common/kernel.h"

namespace workloads::npb {

// What NPB's kernels have in common: their parameters and what they refuse.

/// "class", S to D, whose sizes `meaning` tells.
Parameter class_parameter(const std::string& meaning);
/// class_parameter and "mode".
Parameters kernel_parameters(const std::string& meaning);
bool is_overlapped(const Json& point);
std::string class_of(const Json& point);

/// The class of this point in a kernel's table.
template <class Table>
const auto& find_class(const Table& table, const Json& point) {
  const auto name = class_of(point);
  auto entry = table.begin();
  while (entry->name != name) {
    ++entry;
  }
  return *entry;
}

/// UsageError unless `ranks` is a power of two from `least` to `most`.
void require_ranks(const Json& point, int ranks, int least, int most);

}  // namespace workloads::npb

namespace workloads {

const Benchmark& ep_benchmark();
const Benchmark& is_benchmark();
const Benchmark& cg_benchmark();
const Benchmark& mg_benchmark();
const Benchmark& ft_benchmark();
const Benchmark& lu_benchmark();
const Benchmark& npb_suite_benchmark();

}  // namespace workloads
