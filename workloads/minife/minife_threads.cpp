// SPDX-License-Identifier: BSD-3-Clause
// miniFE with a thread for each neighbour that makes blocking calls (Fukuoka et al., MPI+myth, HPCC 2019; study
// minife-threads). The threads are made for each exchange, and nothing is computed until they have ended. Needs
// MPI_THREAD_MULTIPLE and asks for it.
//
// Point: nx, ny, nz, iterations, threading (kernel, ult), cores. Samples, one a repetition: elapsed_s (a solve),
// comp_s, comm_s (exchange_s + allreduce_s), cpu_s, iterations, true_residual, exchange_s (from the making of the
// threads until the last has ended), allreduce_s. The role says how the threads wait.
#include <array>

#include "common/experiment.h"
#include "minife/problem.h"
#include "minife/solver.h"
#include "ult/threading.h"

namespace workloads::minife {
namespace {

const Parameters& parameters() {
  static const Parameters table = [] {
    auto parameters = problem_parameters();
    parameters.push_back(threading_parameter({"kernel", "ult"}));
    parameters.push_back(cores_parameter());
    return parameters;
  }();
  return table;
}

/// How the threads are made, and how they wait.
struct Threads {
  void (*run)(std::size_t count, const Body& body);
  std::function<void()> yield;  ///< null: their calls block
};

class Threaded final : public Product {
 public:
  Threaded(const Block& block, Threads threads)
      : matrix_(block.matrix),
        halo_(block.rank, block.neighbours, block.matrix.layout(), 1),
        threads_(std::move(threads)) {}

  void multiply(Vector& in, Vector& out, Calls& calls) override {
    const std::array field{in.data()};
    halo_.pack(field);
    calls.make(Call::exchange, [&] {
      threads_.run(halo_.messages(), [&](std::size_t neighbour) { halo_.exchange(neighbour, threads_.yield); });
    });
    halo_.unpack(field);
    matrix_.multiply(matrix_.layout().inside(0), in.data(), out.data());
  }

 private:
  const Matrix& matrix_;
  HaloExchange<double> halo_;
  Threads threads_;
};

void check(const Json& point, int ranks) { check_problem(point, parameters(), ranks, {}); }

void run_kernel(std::size_t count, const Body& body) {
  if (count > 0) {
    run_kernel_threads(count, body);
  }
}

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  Way way{.product = nullptr,
          .reductions = {},
          .calls = {Call::exchange, Call::allreduce},
          .role = "blocking",
          .inside = nullptr};
  Threads threads{.run = run_kernel, .yield = nullptr};
  if (choice_of(preparation.point, parameters(), "threading") == "ult") {
    const bool suspending = engine_suspends_user_level_threads();
    way.role = suspending ? "suspending" : "test-and-yield";
    threads = {.run = run_beside, .yield = suspending ? std::function<void()>() : yield_user_level_thread};
    const auto workers = workers_of(preparation.point, parameters());
    way.inside = [workers](const std::function<void()>& solve) {
      run_user_level_threads(workers, 1, [&](std::size_t) { solve(); });
    };
  }
  way.product = [threads](const Block& block) { return std::make_unique<Threaded>(block, threads); };
  return solver(preparation, parameters(), std::move(way));
}

const Benchmark& benchmark() {
  static const Benchmark table{
      .name = "solve",
      .question = "How long do conjugate gradients take whose halo is exchanged by a blocking thread a neighbour?",
      .parameters = minife::parameters(),
      .quantities = minife::solver_quantities(),
      .check = minife::check,
      .prepare = minife::prepare,
      .thread_level = "multiple",
  };
  return table;
}

}  // namespace
}  // namespace workloads::minife

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "minife_threads",
          .purpose = "miniFE with a thread for each neighbour, which makes blocking calls.",
          .example = "Example: mpiexec -n 4 progress-run --variant offload -- minife_threads solve --point nx=32",
          .benchmarks = {&workloads::minife::benchmark()},
      },
      argc, argv);
}
