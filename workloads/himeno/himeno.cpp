// SPDX-License-Identifier: BSD-3-Clause
// The Himeno benchmark: sequential with one rank, cut in one, two or three dimensions with more.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>

#include "common/clock.h"
#include "common/experiment.h"
#include "common/halo.h"
#include "common/mpi_process.h"
#include "common/separation.h"
#include "himeno/kernel.h"

namespace workloads {
namespace {

constexpr int most_iterations = 1'000'000;

const Parameters& parameters() {
  static const Parameters table{
      choice_parameter("grid", Choices(himeno::size_names().begin(), himeno::size_names().end()),
                       "the published size: XS 32x32x64, S 64x64x128, M 128x128x256, L 256x256x512, XL 512x512x1024",
                       "S"),
      integer_parameter("iterations", {1, most_iterations}, "iterations",
                        "Jacobi iterations of a repetition, from the published start", 10),
      integer_parameter("dimensions", {1, 3}, "", "how many axes of the grid may be cut for the ranks", 3),
      separation_parameter(),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      leading(seconds("elapsed_s")),
      seconds("comm_s"),
      seconds("comp_s"),
      {.name = "mflops", .unit = "MFLOP/s", .better = Better::higher},
      {.name = "gosa", .unit = "1", .better = Better::neither},
  };
  return table;
}

Triple grid_of(const Json& point) { return himeno::grid_of(choice_of(point, parameters(), "grid")); }

Triple interior_of(const Triple& grid) { return {grid[0] - 2, grid[1] - 2, grid[2] - 2}; }

Triple cut(const Json& point, int ranks) {
  const auto dimensions = static_cast<int>(integer_of(point, parameters(), "dimensions"));
  return require_process_grid(ranks, interior_of(grid_of(point)), dimensions);
}

void check(const Json& point, int ranks) {
  const auto parts = cut(point, ranks);
  const auto interior = interior_of(grid_of(point));
  Layout largest;
  for (std::size_t axis = 0; axis < parts.size(); ++axis) {
    largest.interior[axis] = block_of(interior[axis], parts[axis], 0).size();
  }
  require_memory("grid " + choice_of(point, parameters(), "grid"),
                 himeno::bytes_of_a_point * static_cast<double>(largest.points()));
}

std::array<Span, 3> place_of(const Decomposition& ranks, const Triple& grid) {
  std::array<Span, 3> place;
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const Span block = ranks.block(axis, grid[a] - 2);
    place[a] = {.begin = block.begin + 1, .end = block.end + 1};
  }
  return place;
}

class Solve final : public Experiment {
 public:
  explicit Solve(const Preparation& preparation)
      : ranks_(preparation.mpi.rank(), cut(preparation.point, preparation.mpi.size()), false),
        alone_(preparation.mpi.size() == 1),
        grid_(grid_of(preparation.point)),
        iterations_(static_cast<int>(integer_of(preparation.point, parameters(), "iterations"))),
        slowdown_(preparation.slowdown),
        separation_(choice_of(preparation.point, parameters(), "placement")),
        kernel_(grid_, place_of(ranks_, grid_)),
        exact_gosa_(himeno::exact_gosa(grid_, iterations_)) {
    for (int axis = 0; axis < 3; ++axis) {
      halos_.emplace_back(preparation.mpi.rank(), axis_parts(ranks_, kernel_.layout().interior, axis), kernel_.layout(),
                          1, axis * HaloExchange<float>::tags);
    }
  }

  [[nodiscard]] std::string role() const override { return alone_ ? "sequential" : "rank"; }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table()); }

  std::string repeat(std::span<double> values) override {
    if (!separation_.problem().empty()) {
      return separation_.problem();
    }
    kernel_.initialise();
    comm_s_ = 0;
    comp_s_ = 0;
    if (!alone_) {
      require(MPI_Barrier(MPI_COMM_WORLD));
    }
    double gosa = 0;
    const auto begin = Clock::now();
    for (int iteration = 0; iteration < iterations_; ++iteration) {
      gosa = total(compute());
      exchange();
    }
    const double elapsed_s = seconds_since(begin);
    const Triple inner = interior_of(grid_);
    const double flops = himeno::flops_a_point * inner[0] * inner[1] * inner[2] * iterations_;
    const std::array<double, 5> measured{elapsed_s, comm_s_, comp_s_, flops / elapsed_s / 1e6, gosa};
    std::ranges::copy(measured, values.begin());
    return verify(gosa);
  }

 private:
  double compute() {
    const auto begin = Clock::now();
    const double gosa = kernel_.iterate();
    if (slowdown_ > 1) {
      spin_for(seconds_since(begin) * (slowdown_ - 1));
    }
    comp_s_ += seconds_since(begin);
    return gosa;
  }

  double total(double mine) {
    if (alone_) {
      return mine;
    }
    const auto begin = Clock::now();
    double sum = 0;
    require(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    comm_s_ += seconds_since(begin);
    return sum;
  }

  /// Axis after axis, as published: the edges between blocks come with the second and the third.
  void exchange() {
    if (alone_) {
      return;
    }
    const auto begin = Clock::now();
    const std::array<float*, 1> fields{kernel_.pressure()};
    for (auto& halo : halos_) {
      halo.post_receives();
      halo.post_sends(fields);
      halo.wait();
      halo.unpack(fields);
    }
    comm_s_ += seconds_since(begin);
  }

  /// In single precision p near 1 is known to 6e-8 and a residual is 1 / (3 imax^2): their ratio bounds the deviation.
  [[nodiscard]] std::string verify(double gosa) const {
    constexpr double rounding = 2e-7;
    const double tolerance = 1e-4 + (rounding * 3 * grid_[0] * grid_[0]);
    if (std::abs(gosa - exact_gosa_) <= tolerance * exact_gosa_) {
      return {};
    }
    return fmt::format("gosa is {:.6e} after {} iterations, and {:.6e} is right", gosa, iterations_, exact_gosa_);
  }

  Decomposition ranks_;
  bool alone_;
  Triple grid_;
  int iterations_;
  double slowdown_;
  Separation separation_;
  himeno::Kernel kernel_;
  double exact_gosa_;
  std::vector<HaloExchange<float>> halos_;
  double comm_s_ = 0;
  double comp_s_ = 0;
};

const Benchmark& himeno_benchmark() {
  static const Benchmark benchmark{
      .name = "solve",
      .question = "How fast does Jacobi's method run? The published kernel: MFLOPS and gosa.",
      .parameters = parameters(),
      .quantities = quantity_table(),
      .check = check,
      .prepare = make_experiment<Solve>,
  };
  return benchmark;
}

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "himeno",
          .purpose = "The Himeno benchmark: a memory-bound stencil, sequential and with MPI.",
          .example = "Example: mpiexec -n 4 himeno solve --point grid=M,iterations=20,dimensions=2",
          .benchmarks = {&workloads::himeno_benchmark()},
      },
      argc, argv);
}
