// SPDX-License-Identifier: BSD-3-Clause
// Apart from the kernels' repetition, which calls MPI: who only describes a record needs no more than this.
#include "common/kernel.h"

namespace workloads {

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
