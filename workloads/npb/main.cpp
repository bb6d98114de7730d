// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"
#include "npb/benchmarks.h"

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "npb",
          .purpose = "Kernels of the NAS Parallel Benchmarks, written from their specification, with its verification.",
          .example = "Example: mpiexec -n 2 npb ep --point class=A",
          .benchmarks = {&workloads::ep_benchmark(), &workloads::is_benchmark(), &workloads::cg_benchmark(),
                         &workloads::mg_benchmark(), &workloads::ft_benchmark(), &workloads::lu_benchmark(),
                         &workloads::npb_suite_benchmark()},
      },
      argc, argv);
}
