// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"
#include "pencil_fft/benchmarks.h"

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "pencil_fft",
          .purpose = "Three-dimensional Fourier transforms of fields cut into pencils, whose transposes are messages.",
          .example = "Example: mpiexec -n 4 pencil_fft transform --point nx=128,ny=128,nz=128,mode=pipelined",
          .benchmarks = {&workloads::pencil_fft_benchmark()},
      },
      argc, argv);
}
