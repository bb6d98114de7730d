// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"
#include "tasks/contention.h"

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "tasks",
          .purpose = "The progress engine's core alone: its task queues under load, without communication.",
          .example = "Example: mpiexec -n 1 tasks contention --point queue=submission,submitters=2,pollers=1",
          .benchmarks = {&workloads::contention_benchmark()},
      },
      argc, argv);
}
