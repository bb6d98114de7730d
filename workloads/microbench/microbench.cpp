// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "common/experiment.h"
#include "microbench/benchmarks.h"

namespace workloads {

const std::vector<const Benchmark*>& benchmarks() {
  static const std::vector<const Benchmark*> table{
      &overlap_benchmark(),
      &collective_overlap_benchmark(),
      &host_overhead_benchmark(),
      &latency_benchmark(),
      &n_load_benchmark(),
      &one_to_many_benchmark(),
      &many_to_many_benchmark(),
      &context_switches_benchmark(),
      &node_pairs_benchmark(),
      &rma_progress_benchmark(),
      &partitioned_overlap_benchmark(),
  };
  return table;
}

Parameter size_parameter(const Json& default_value) {
  return integer_parameter("size_bytes", {0, largest_message}, "bytes", "the message", default_value);
}

Parameter work_parameter() {
  return choice_parameter("work", {"register", "memory"}, "the fixed work: bound by registers or by memory",
                          "register");
}

Parameter work_units_parameter(const Json& default_value) {
  return integer_parameter("work_units", {0, largest_work}, "units", "the computation, in units of the fixed work",
                           default_value);
}

Parameter test_every_parameter() {
  return integer_parameter("test_every", {0, largest_work}, "units",
                           "manual progression: MPI_Test after every so many units of the computation; 0: never", 0);
}

Parameter receive_parameter() {
  return choice_parameter(
      "receive", {"preposted", "late"},
      "the receive is posted before the send can start, or as the receiver's first step after the start", "preposted");
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

// microbench BENCHMARK: one driver for all microbenchmarks.

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "microbench",
          .purpose = "Microbenchmarks of communication that should progress while the program computes.",
          .example = "Example: mpiexec -n 2 microbench overlap --point size_bytes=4194304,work_units=1000,pattern=both",
          .benchmarks = workloads::benchmarks(),
      },
      argc, argv);
}
