// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"
#include "himeno/solve.h"

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "himeno",
          .purpose = "The Himeno benchmark: a memory-bound stencil, sequential and with MPI.",
          .example = "Example: mpiexec -n 4 himeno solve --point grid=M,iterations=20,dimensions=2",
          .benchmarks = {&workloads::himeno_benchmark()},
      },
      argc, argv);
}
