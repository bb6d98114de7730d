// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"
#include "roofline/benchmarks.h"

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "roofline",
          .purpose = "What bounds a computation on this machine: memory's bandwidth and the core's operations.",
          .example = "Example: mpiexec -n 1 roofline triad --point megabytes=240 --point megabytes=1",
          .benchmarks = {&workloads::triad_benchmark(), &workloads::peak_benchmark()},
      },
      argc, argv);
}
