// SPDX-License-Identifier: BSD-3-Clause
// microbench BENCHMARK: one driver for all microbenchmarks.
#include "common/program.h"
#include "microbench/benchmarks.h"

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
