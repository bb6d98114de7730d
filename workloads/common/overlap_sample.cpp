// SPDX-License-Identifier: BSD-3-Clause
#include "common/overlap_sample.h"

#include <algorithm>
#include <array>

#include "common/kernel.h"

namespace workloads {

const Quantities& overlap_quantities() {
  static const Quantities table{
      leading(seconds("total_s")),
      seconds("comm_s"),
      seconds("comp_s"),
      seconds("comp_in_s"),
      seconds("post_s"),
      seconds("wait_s"),
      seconds("test_s"),
      seconds("ack_s"),
      seconds("cpu_s"),
      count("application_voluntary_switches"),
      count("application_involuntary_switches"),
      count("other_voluntary_switches"),
      count("other_involuntary_switches"),
  };
  return table;
}

const Quantities& halo_quantities() {
  static const Quantities early{
      {.name = "arrived_early", .unit = "1", .better = Better::higher},
      {.name = "changed_early", .unit = "1", .better = Better::higher},
  };
  static const Quantities table = joined(overlap_quantities(), early);
  return table;
}

std::string write_overlap(const OverlapRun& alone, double comp_s, const OverlapRun& beside, double ack_s,
                          std::span<double> values) {
  const Usage& usage = beside.usage;
  const std::array<double, overlap_quantities_count> measured{
      beside.total_s,
      alone.total_s,
      comp_s,
      beside.inside.elapsed_s,
      beside.post_s,
      beside.wait_s,
      beside.inside.test_s,
      ack_s,
      usage.cpu_s,
      static_cast<double>(usage.application.voluntary),
      static_cast<double>(usage.application.involuntary),
      static_cast<double>(usage.other.voluntary),
      static_cast<double>(usage.other.involuntary),
  };
  std::ranges::copy(measured, values.begin());
  return alone.problem.empty() ? beside.problem : alone.problem;
}

// Apart from the kernels' repetition, which calls MPI: who only describes a record needs no more than this.

const Quantities& kernel_quantities() {
  static const Quantities table{
      leading(seconds("elapsed_s")),
      seconds("comp_s"),
      seconds("comm_s"),
      {.name = "mops", .unit = "Mop/s", .better = Better::higher},
      seconds("cpu_s"),
      count("application_involuntary_switches"),
      count("other_voluntary_switches"),
  };
  return table;
}

}  // namespace workloads
