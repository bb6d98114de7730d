// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"
#include "interference/interference.h"

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "interference",
          .purpose = "What a thread that waits for messages costs a thread that computes next to it.",
          .example = "Example: mpiexec -n 2 interference ping-pong --point detection=sleep,placement=same-core,grid=XS",
          .benchmarks = {&workloads::ping_pong_benchmark()},
      },
      argc, argv);
}
