// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/benchmarks.h"

#include <cmath>

namespace workloads {

const std::vector<const Benchmark*>& benchmarks() {
  static const std::vector<const Benchmark*> table{
      &overlap_benchmark(),       &collective_overlap_benchmark(),
      &host_overhead_benchmark(), &latency_benchmark(),
      &n_load_benchmark(),        &one_to_many_benchmark(),
      &many_to_many_benchmark(),  &context_switches_benchmark(),
      &node_pairs_benchmark(),
  };
  return table;
}

Parameter size_parameter(const Json& default_value) {
  return {
      .name = "size_bytes",
      .domain = IntegerRange{.minimum = 0, .maximum = largest_message},
      .unit = "bytes",
      .meaning = "the message",
      .default_value = default_value,
  };
}

Parameter work_parameter() {
  return {
      .name = "work",
      .domain = Choices{"register", "memory"},
      .unit = "",
      .meaning = "the fixed work: bound by registers or by memory",
      .default_value = "register",
  };
}

Parameter work_units_parameter(const Json& default_value) {
  return {
      .name = "work_units",
      .domain = IntegerRange{.minimum = 0, .maximum = largest_work},
      .unit = "units",
      .meaning = "the computation, in units of the fixed work",
      .default_value = default_value,
  };
}

Parameter test_every_parameter() {
  return {
      .name = "test_every",
      .domain = IntegerRange{.minimum = 0, .maximum = largest_work},
      .unit = "units",
      .meaning = "manual progression: MPI_Test after every so many units of the computation; 0: never",
      .default_value = 0,
  };
}

Parameter receive_parameter() {
  return {
      .name = "receive",
      .domain = Choices{"preposted", "late"},
      .unit = "",
      .meaning = "the receive is posted before the send can start, or as the receiver's first step after the start",
      .default_value = "preposted",
  };
}

WorkKind work_of(const Json& point, const Parameters& parameters) {
  return choice_of(point, parameters, "work") == "memory" ? WorkKind::memory_bound : WorkKind::register_bound;
}

ReceivePosting posting_of(const Json& point, const Parameters& parameters) {
  return choice_of(point, parameters, "receive") == "late" ? ReceivePosting::late : ReceivePosting::preposted;
}

std::uint64_t units_of(const Preparation& preparation, const Parameters& parameters) {
  const auto units = static_cast<double>(integer_of(preparation.point, parameters, "work_units"));
  return static_cast<std::uint64_t>(std::llround(units * preparation.slowdown));
}

std::size_t size_of(const Json& point, const Parameters& parameters) {
  return static_cast<std::size_t>(integer_of(point, parameters, "size_bytes"));
}

}  // namespace workloads
