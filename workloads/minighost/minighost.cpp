// SPDX-License-Identifier: BSD-3-Clause
// miniGhost: time steps of a stencil on a periodic grid cut for the ranks, all variables of a neighbour in one message.
//
// Four ways to exchange: an axis after the other, blocking or not, where edges and corners come with the later axes;
// with each neighbour directly, all at once; and that beside the computation of the points that need no ghost.
//
// Point: nx, ny, nz (of the whole grid), variables, stencil (7, 27), neighbours (6, 26), steps, mode, reduction,
// placement. Samples, one a repetition: elapsed_s, comp_s, comm_s (packing, messages, unpacking, reductions), wait_s
// (of it, in the calls that complete messages), reduction_s (of it, in those of reductions), cpu_s, messages (that this
// rank sent to others), sum and norm (over all variables and points at the end). Every rank checks every point of its
// block against the exact solution, and every sum over the grid.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>

#include "common/clock.h"
#include "common/experiment.h"
#include "common/halo.h"
#include "common/machine.h"
#include "common/separation.h"
#include "minighost/solve.h"
#include "minighost/stencil.h"

namespace workloads::minighost::solve {
namespace {

const Quantities& quantity_table() {
  static const Quantities table{
      leading(seconds("elapsed_s")),
      seconds("comp_s"),
      seconds("comm_s"),
      seconds("wait_s"),
      seconds("reduction_s"),
      seconds("cpu_s"),
      {.name = "messages", .unit = "messages", .better = Better::neither},
      {.name = "sum", .unit = "1", .better = Better::neither},
      {.name = "norm", .unit = "1", .better = Better::neither},
  };
  return table;
}

std::vector<PlaneWave> waves_of(const SolvePoint& point) {
  std::vector<PlaneWave> waves;
  waves.reserve(static_cast<std::size_t>(point.variables));
  for (int variable = 0; variable < point.variables; ++variable) {
    waves.emplace_back(point.grid, variable);
  }
  return waves;
}

std::vector<double> sums_of(const std::vector<PlaneWave>& waves) {
  std::vector<double> sums;
  std::ranges::transform(waves, std::back_inserter(sums), &PlaneWave::sum);
  return sums;
}

std::array<Span, 3> place_of(const Decomposition& ranks, const Triple& grid) {
  return {ranks.block(0, grid[0]), ranks.block(1, grid[1]), ranks.block(2, grid[2])};
}

class Solve final : public Experiment {
 public:
  explicit Solve(const Preparation& preparation)
      : point_(preparation.point),
        ranks_(preparation.mpi.rank(), require_process_grid(preparation.mpi.size(), point_.grid, 3), true),
        place_(place_of(ranks_, point_.grid)),
        layout_{.interior = {place_[0].size(), place_[1].size(), place_[2].size()}},
        inner_(layout_.inside(ranks_.margin())),
        boundary_(shell(layout_.inside(0), inner_)),
        slowdown_(preparation.slowdown),
        settle_s_(preparation.settle_s),
        separation_(point_.placement),
        waves_(waves_of(point_)),
        now_(waves_.size(), std::vector<double>(layout_.points())),
        next_(now_),
        sums_(point_.reduction, sums_of(waves_)) {
    make_halos(preparation.mpi.rank());
  }

  [[nodiscard]] std::string role() const override { return "rank"; }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table()); }

  std::string repeat(std::span<double> values) override {
    if (!separation_.problem().empty()) {
      return separation_.problem();
    }
    start();
    const Usage before = read_usage();
    const auto begin = Clock::now();
    for (int step = 0; step < point_.steps; ++step) {
      advance();
      std::swap(now_, next_);
      add_up();
    }
    sums_.finish();
    const double elapsed_s = seconds_since(begin);
    const double cpu_s = (read_usage() - before).cpu_s;
    const auto [sum, norm] = totals();
    const double comm_s = comm_s_ + sums_.elapsed_s();
    const std::array<double, 9> measured{elapsed_s, comp_s_,    comm_s, wait_s_, sums_.elapsed_s(),
                                         cpu_s,     messages(), sum,    norm};
    std::ranges::copy(measured, values.begin());
    return verify(sum);
  }

 private:
  using Fields = std::vector<std::vector<double>>;
  using Exchange = HaloExchange<double>;

  void make_halos(int rank) {
    int tag = 0;
    for (const auto& parts : exchanges_of(point_, ranks_, layout_.interior)) {
      halos_.emplace_back(rank, parts, layout_, waves_.size(), tag);
      tag += Exchange::tags;
    }
  }

  /// Of this repetition, to other ranks.
  [[nodiscard]] double messages() const { return static_cast<double>(sent() - sent_before_); }

  [[nodiscard]] std::int64_t sent() const {
    return std::accumulate(halos_.begin(), halos_.end(), std::int64_t{0},
                           [](std::int64_t sum, const Exchange& halo) { return sum + halo.sent(); });
  }

  void start() {
    for (std::size_t variable = 0; variable < waves_.size(); ++variable) {
      waves_[variable].fill(layout_, place_, now_[variable].data());
    }
    comp_s_ = comm_s_ = wait_s_ = 0;
    sums_.restart();
    sent_before_ = sent();
    spin_for(settle_s_);
    require(MPI_Barrier(MPI_COMM_WORLD));
  }

  void advance() {
    const auto fields = pointers();
    if (point_.mode == "overlapped") {
      post(halos_.front(), fields);
      compute({inner_});
      complete(halos_.front(), fields);
      compute(boundary_);
      return;
    }
    for (auto& halo : halos_) {
      if (point_.mode == "blocking") {
        const auto begin = Clock::now();
        halo.exchange_blocking(fields);
        comm_s_ += seconds_since(begin);
      } else {
        post(halo, fields);
        complete(halo, fields);
      }
    }
    compute({layout_.inside(0)});
  }

  void post(Exchange& halo, Exchange::Fields fields) {
    const auto begin = Clock::now();
    halo.post_receives();
    halo.post_sends(fields);
    comm_s_ += seconds_since(begin);
  }

  void complete(Exchange& halo, Exchange::Fields fields) {
    const auto begin = Clock::now();
    wait_s_ += halo.unpack_as_they_come(fields);
    comm_s_ += seconds_since(begin);
  }

  /// What the step has made, on this rank and then on all.
  void add_up() {
    if (!sums_.is_wanted()) {
      return;
    }
    const auto begin = Clock::now();
    std::vector<double> mine;
    std::ranges::transform(now_, std::back_inserter(mine), [&](const auto& field) {
      double sum = 0;
      for_each_row(layout_, layout_.inside(0), [&](std::size_t first, std::size_t length) {
        sum = std::reduce(&field[first], &field[first] + length, sum);
      });
      return sum;
    });
    end_of_computation(begin);
    sums_.add(mine);
  }

  void compute(const std::vector<Box>& boxes) {
    const auto begin = Clock::now();
    for (std::size_t variable = 0; variable < waves_.size(); ++variable) {
      for (const auto& box : boxes) {
        apply(point_.stencil, layout_, box, now_[variable].data(), next_[variable].data());
      }
    }
    end_of_computation(begin);
  }

  void end_of_computation(Clock::time_point begin) {
    if (slowdown_ > 1) {
      spin_for(seconds_since(begin) * (slowdown_ - 1));
    }
    comp_s_ += seconds_since(begin);
  }

  std::vector<double*> pointers() {
    std::vector<double*> fields;
    for (auto& field : now_) {
      fields.push_back(field.data());
    }
    return fields;
  }

  /// Sum and sum of squares over all ranks, variables and points.
  [[nodiscard]] std::array<double, 2> totals() const {
    std::array<double, 2> both{};
    for (const auto& field : now_) {
      for_each_row(layout_, layout_.inside(0), [&](std::size_t first, std::size_t length) {
        std::array<double, 2> row{};
        for (std::size_t n = first; n < first + length; ++n) {
          row[0] += field[n];
          row[1] += field[n] * field[n];
        }
        both[0] += row[0];
        both[1] += row[1];
      });
    }
    require(MPI_Allreduce(MPI_IN_PLACE, both.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return both;
  }

  [[nodiscard]] std::string verify(double sum) const {
    if (!sums_.problem().empty()) {
      return sums_.problem();
    }
    constexpr double rounding = 1e-11;
    double right = 0;
    for (std::size_t variable = 0; variable < waves_.size(); ++variable) {
      right += waves_[variable].sum();
      if (auto problem = waves_[variable].check(layout_, place_, now_[variable].data(), point_.stencil, point_.steps);
          !problem.empty()) {
        return fmt::format("variable {}: {}", variable, problem);
      }
    }
    return std::abs(sum - right) <= rounding * right
               ? std::string()
               : fmt::format("the sum is {:.15g} after {} steps, and {:.15g} is conserved", sum, point_.steps, right);
  }

  SolvePoint point_;
  Decomposition ranks_;
  std::array<Span, 3> place_;
  Layout layout_;
  Box inner_;  ///< points that need nothing of other ranks
  std::vector<Box> boundary_;
  double slowdown_;
  double settle_s_;
  Separation separation_;
  std::vector<PlaneWave> waves_;
  Fields now_;
  Fields next_;
  GlobalSum sums_;
  std::vector<Exchange> halos_;
  std::int64_t sent_before_ = 0;
  double comp_s_ = 0;
  double comm_s_ = 0;
  double wait_s_ = 0;
};

const Benchmark& benchmark() {
  static const Benchmark table{
      .name = "solve",
      .question = "How long does a stencil take whose halos are exchanged before or beside the computation?",
      .parameters = minighost::solve_parameters(),
      .quantities = minighost::solve::quantity_table(),
      .check = minighost::check_solve,
      .prepare = make_experiment<minighost::solve::Solve>,
  };
  return table;
}

}  // namespace
}  // namespace workloads::minighost::solve

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "minighost",
          .purpose =
              "Stencils with an exchange of halos, after Sandia's miniGhost: whole, and stripped to its messages.",
          .example = "Example: mpiexec -n 4 minighost solve --point stencil=27,variables=5,mode=overlapped",
          .benchmarks = {&workloads::minighost::solve::benchmark(), &workloads::minighost_exchange_benchmark()},
      },
      argc, argv);
}
