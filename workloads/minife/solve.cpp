// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients of miniFE, with the halo and the sums beside the computation or before it (study minife-packets).
//
// Point: nx, ny, nz, iterations, mode, barrier, packets. Samples, one a repetition: elapsed_s (a solve), comp_s, comm_s
// (in MPI calls), cpu_s, iterations, the seconds in each call that the mode makes, and with packets what went through
// the sockets in each call and outside of all.
#include "common/errors.h"
#include "minife/benchmarks.h"
#include "minife/solver.h"

namespace workloads::minife {
namespace {

const Parameters& parameters() {
  static const Parameters table = [] {
    auto parameters = problem_parameters();
    parameters.push_back({
        .name = "mode",
        .domain = Choices{"blocking", "overlapped", "pipelined"},
        .unit = "",
        .meaning = "MPI_Send and MPI_Allreduce; the halo beside the rows that do not need it; or both, with one "
                   "MPI_Iallreduce an iteration beside the product",
        .default_value = "blocking",
    });
    parameters.push_back({
        .name = "barrier",
        .domain = Flag{},
        .unit = "",
        .meaning = "MPI_Barrier before each MPI_Allreduce, so that waiting for those who come late is timed apart from "
                   "the reduction (not in mode pipelined)",
        .default_value = false,
    });
    parameters.push_back({
        .name = "packets",
        .domain = Flag{},
        .unit = "",
        .meaning =
            "count the packets of each call, by TCP_INFO of all connections, which takes some microseconds a call",
        .default_value = false,
    });
    return parameters;
  }();
  return table;
}

std::string mode_of(const Json& point) { return choice_of(point, parameters(), "mode"); }

Reductions reductions_of(const Json& point) {
  return {.pipelined = mode_of(point) == "pipelined", .barrier_first = flag_of(point, parameters(), "barrier")};
}

void check(const Json& point, int ranks) {
  const auto reductions = reductions_of(point);
  if (reductions.pipelined && reductions.barrier_first) {
    throw UsageError("barrier = true: mode pipelined has no blocking reduction that a barrier could stand before");
  }
  check_problem(point, parameters(), ranks, reductions);
}

std::vector<Call> calls_of(Reductions reductions) {
  std::vector<Call> calls{Call::irecv, Call::send, Call::wait, Call::allreduce};
  if (reductions.pipelined) {
    calls.push_back(Call::allreduce_wait);
  }
  if (reductions.barrier_first) {
    calls.push_back(Call::barrier);
  }
  return calls;
}

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  const auto reductions = reductions_of(preparation.point);
  return solver(preparation, parameters(),
                {.product = mode_of(preparation.point) == "blocking" ? blocking_product : overlapped_product,
                 .reductions = reductions,
                 .calls = calls_of(reductions),
                 .packets = flag_of(preparation.point, parameters(), "packets"),
                 .inside = nullptr});
}

}  // namespace
}  // namespace workloads::minife

namespace workloads {

const Benchmark& minife_benchmark() {
  static const Benchmark benchmark{
      .name = "solve",
      .question = "How long do conjugate gradients take whose halo and sums travel before or beside the computation?",
      .parameters = minife::parameters(),
      .quantities = minife::solver_quantities(),
      .check = minife::check,
      .prepare = minife::prepare,
  };
  return benchmark;
}

}  // namespace workloads
