// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"
#include "minife/benchmarks.h"

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "minife",
          .purpose = "Finite elements and conjugate gradients, after Mantevo's miniFE.",
          .example = "Example: mpiexec -n 2 minife solve --point nx=48,ny=48,nz=48,mode=overlapped",
          .benchmarks = {&workloads::minife_benchmark()},
      },
      argc, argv);
}
