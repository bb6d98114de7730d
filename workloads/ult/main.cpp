// SPDX-License-Identifier: BSD-3-Clause
// ult BENCHMARK: many threads that make plain blocking calls (Fukuoka et al., MPI+myth, HPCC 2019).
#include "common/program.h"
#include "ult/benchmarks.h"

int main(int argc, char** argv) {
  using namespace workloads;
  return run_program(
      {
          .name = "ult",
          .purpose = "User-level threads whose blocking MPI calls overlap with the computation of the others.",
          .example =
              "Example: mpiexec -n 2 progress-run --variant offload -- ult overlap --point mat_size=100,ults=100",
          .benchmarks = {&concurrent_latency_benchmark(), &ult_overlap_benchmark(), &waiting_benchmark()},
      },
      argc, argv);
}
