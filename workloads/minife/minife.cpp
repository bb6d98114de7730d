// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients of miniFE, with the halo and the sums beside the computation or before it (study minife-packets).
//
// Point: nx, ny, nz, iterations, mode, barrier, packets. Samples, one a repetition: elapsed_s (a solve), comp_s, comm_s
// (in MPI calls), cpu_s, iterations, true_residual (b - A x computed anew, over the first residual), the seconds in
// each call that the mode makes, and with packets what went through the sockets in each call and outside of all.
#include "common/experiment.h"
#include "minife/problem.h"
#include "minife/solver.h"

namespace workloads::minife {
namespace {

void check(const Json& point, int ranks) { check_problem(point, solve_parameters(), ranks, reductions_of(point)); }

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  const auto reductions = reductions_of(preparation.point);
  return solver(preparation, solve_parameters(),
                {.product = mode_of(preparation.point) == Mode::blocking ? blocking_product : overlapped_product,
                 .reductions = reductions,
                 .calls = calls_of(reductions),
                 .packets = flag_of(preparation.point, solve_parameters(), "packets"),
                 .inside = nullptr});
}

const Benchmark& benchmark() {
  static const Benchmark table{
      .name = "solve",
      .question = "How long do conjugate gradients take whose halo and sums travel before or beside the computation?",
      .parameters = minife::solve_parameters(),
      .quantities = minife::solver_quantities(),
      .check = minife::check,
      .prepare = minife::prepare,
  };
  return table;
}

}  // namespace
}  // namespace workloads::minife

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "minife",
          .purpose = "Finite elements and conjugate gradients, after Mantevo's miniFE.",
          .example = "Example: mpiexec -n 2 minife solve --point nx=48,ny=48,nz=48,mode=overlapped",
          .benchmarks = {&workloads::minife::benchmark()},
      },
      argc, argv);
}
