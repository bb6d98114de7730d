// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"
#include "minighost/benchmarks.h"

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "minighost",
          .purpose =
              "Stencils with an exchange of halos, after Sandia's miniGhost: whole, and stripped to its messages.",
          .example = "Example: mpiexec -n 4 minighost solve --point stencil=27,variables=5,mode=overlapped",
          .benchmarks = {&workloads::minighost_solve_benchmark(), &workloads::minighost_exchange_benchmark()},
      },
      argc, argv);
}
