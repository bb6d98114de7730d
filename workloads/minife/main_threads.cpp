// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"
#include "minife/benchmarks.h"

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "minife_threads",
          .purpose = "miniFE with a thread for each neighbour, which makes blocking calls.",
          .example = "Example: mpiexec -n 4 progress-run --variant offload -- minife_threads solve --point nx=32",
          .benchmarks = {&workloads::minife_threads_benchmark()},
      },
      argc, argv);
}
