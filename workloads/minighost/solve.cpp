// SPDX-License-Identifier: BSD-3-Clause
// miniGhost: time steps of a stencil on a periodic grid cut for the ranks, all variables of a neighbour in one message.
//
// Point: nx, ny, nz (of the whole grid), variables, stencil (7, 27), steps, mode, placement. Samples, one a repetition:
// elapsed_s, comp_s, comm_s (packing, messages, unpacking), wait_s (of it, in the completing calls), cpu_s, sum and
// norm (over all variables and points at the end). Every rank checks every point of its block against the exact
// solution.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "common/clock.h"
#include "common/errors.h"
#include "common/separation.h"
#include "common/thread_usage.h"
#include "grid/halo.h"
#include "minighost/benchmarks.h"
#include "minighost/plane_wave.h"

namespace workloads {
namespace {

using minighost::PlaneWave;
using minighost::Stencil;

constexpr int most_points = 16384;  // of an axis
constexpr int most_variables = 40;  // as in miniGhost
constexpr int most_steps = 1'000'000;

Parameter integer(const char* name, int maximum, const char* meaning, int default_value) {
  return {
      .name = name,
      .domain = IntegerRange{.minimum = 1, .maximum = maximum},
      .unit = "",
      .meaning = meaning,
      .default_value = default_value,
  };
}

const Parameters& parameters() {
  constexpr int edge = 64;
  static const Parameters table{
      integer("nx", most_points, "points of the whole grid along its first axis", edge),
      integer("ny", most_points, "points along the second axis", edge),
      integer("nz", most_points, "points along the third axis, which is contiguous in memory", edge),
      integer("variables", most_variables, "variables, all sent to a neighbour in one message", 5),
      {
          .name = "stencil",
          .domain = IntegerRange{.minimum = 7, .maximum = 27},
          .unit = "points",
          .meaning = "7 or 27",
          .default_value = 7,
      },
      integer("steps", most_steps, "time steps of a repetition", 10),
      {
          .name = "mode",
          .domain = Choices{"blocking", "nonblocking", "overlapped"},
          .unit = "",
          .meaning = "MPI_Sendrecv axis after axis; all neighbours at once and then the computation; or the interior "
                     "computed before the wait and the boundary after it",
          .default_value = "nonblocking",
      },
      separation_parameter(),
  };
  return table;
}

int number(const Json& point, std::string_view name) { return static_cast<int>(integer_of(point, parameters(), name)); }

Triple grid_of(const Json& point) { return {number(point, "nx"), number(point, "ny"), number(point, "nz")}; }

void check(const Json& point, int ranks) {
  if (const int stencil = number(point, "stencil"); stencil != 7 && stencil != 27) {
    throw UsageError(fmt::format("stencil = {}: 7 or 27 is needed", stencil));
  }
  require_process_grid(ranks, grid_of(point), 3);
}

std::array<Span, 3> place_of(const Decomposition& ranks, const Triple& grid) {
  return {ranks.block(0, grid[0]), ranks.block(1, grid[1]), ranks.block(2, grid[2])};
}

/// The points of a block that need its ghosts: six slabs around Layout::inside(1), none twice.
std::vector<Box> boundary_of(const Layout& layout) {
  std::vector<Box> slabs;
  Box rest = layout.inside(0);
  const Box inner = layout.inside(1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Box low = rest;
    Box high = rest;
    low.end[axis] = inner.begin[axis];
    high.begin[axis] = inner.end[axis];
    slabs.push_back(low);
    slabs.push_back(high);
    rest.begin[axis] = inner.begin[axis];
    rest.end[axis] = inner.end[axis];
  }
  return slabs;
}

class Solve final : public Experiment {
 public:
  explicit Solve(const Preparation& preparation)
      : grid_(grid_of(preparation.point)),
        ranks_(preparation.mpi.rank(), require_process_grid(preparation.mpi.size(), grid_, 3), true),
        place_(place_of(ranks_, grid_)),
        layout_{.interior = {place_[0].size(), place_[1].size(), place_[2].size()}},
        boundary_(boundary_of(layout_)),
        stencil_(number(preparation.point, "stencil") == 7 ? Stencil::seven : Stencil::twenty_seven),
        steps_(number(preparation.point, "steps")),
        mode_(choice_of(preparation.point, parameters(), "mode")),
        slowdown_(preparation.slowdown),
        settle_s_(preparation.settle_s),
        separation_(choice_of(preparation.point, parameters(), "placement")) {
    for (int variable = 0; variable < number(preparation.point, "variables"); ++variable) {
      waves_.emplace_back(grid_, variable);
      now_.emplace_back(layout_.points());
      next_.emplace_back(layout_.points());
    }
    make_halos(preparation.mpi.rank());
  }

  [[nodiscard]] std::string role() const override { return "rank"; }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static constexpr std::array<std::string_view, 7> names{
        "elapsed_s", "comp_s", "comm_s", "wait_s", "cpu_s", "sum", "norm",
    };
    return names;
  }

  std::string repeat(std::span<double> values) override {
    if (!separation_.problem().empty()) {
      return separation_.problem();
    }
    start();
    const Usage before = read_usage();
    const auto begin = Clock::now();
    for (int step = 0; step < steps_; ++step) {
      advance();
      std::swap(now_, next_);
    }
    const double elapsed_s = seconds_since(begin);
    const double cpu_s = (read_usage() - before).cpu_s;
    const auto [sum, norm] = totals();
    const std::array<double, 7> measured{elapsed_s, comp_s_, comm_s_, wait_s_, cpu_s, sum, norm};
    std::ranges::copy(measured, values.begin());
    return verify(sum);
  }

 private:
  using Fields = std::vector<std::vector<double>>;
  using Exchange = HaloExchange<double>;

  void make_halos(int rank) {
    if (mode_ != "blocking") {
      halos_.emplace_back(rank, all_parts(ranks_, layout_.interior, stencil_ == Stencil::twenty_seven), layout_,
                          waves_.size());
      return;
    }
    for (int axis = 0; axis < 3; ++axis) {  // edges and corners come with the second and the third
      halos_.emplace_back(rank, axis_parts(ranks_, layout_.interior, axis), layout_, waves_.size(),
                          axis * Exchange::tags);
    }
  }

  void start() {
    for (std::size_t variable = 0; variable < waves_.size(); ++variable) {
      waves_[variable].fill(layout_, place_, now_[variable].data());
    }
    comp_s_ = comm_s_ = wait_s_ = 0;
    spin_for(settle_s_);
    require(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  }

  void advance() {
    const auto fields = pointers();
    if (mode_ == "overlapped") {
      post(fields);
      compute({layout_.inside(1)});
      complete(fields);
      compute(boundary_);
      return;
    }
    if (mode_ == "blocking") {
      const auto begin = Clock::now();
      for (auto& halo : halos_) {
        halo.exchange_blocking(fields);
      }
      comm_s_ += seconds_since(begin);
    } else {
      post(fields);
      complete(fields);
    }
    compute({layout_.inside(0)});
  }

  void post(Exchange::Fields fields) {
    const auto begin = Clock::now();
    halos_.front().post_receives();
    halos_.front().post_sends(fields);
    comm_s_ += seconds_since(begin);
  }

  void complete(Exchange::Fields fields) {
    const auto begin = Clock::now();
    halos_.front().wait();
    wait_s_ += seconds_since(begin);
    halos_.front().unpack(fields);
    comm_s_ += seconds_since(begin);
  }

  void compute(const std::vector<Box>& boxes) {
    const auto begin = Clock::now();
    for (std::size_t variable = 0; variable < waves_.size(); ++variable) {
      for (const auto& box : boxes) {
        apply(stencil_, layout_, box, now_[variable].data(), next_[variable].data());
      }
    }
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
    require(MPI_Allreduce(MPI_IN_PLACE, both.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
    return both;
  }

  [[nodiscard]] std::string verify(double sum) const {
    constexpr double rounding = 1e-11;
    double right = 0;
    for (std::size_t variable = 0; variable < waves_.size(); ++variable) {
      right += waves_[variable].sum();
      if (auto problem = waves_[variable].check(layout_, place_, now_[variable].data(), stencil_, steps_);
          !problem.empty()) {
        return fmt::format("variable {}: {}", variable, problem);
      }
    }
    return std::abs(sum - right) <= rounding * right
               ? std::string()
               : fmt::format("the sum is {:.15g} after {} steps, and {:.15g} is conserved", sum, steps_, right);
  }

  Triple grid_;
  Decomposition ranks_;
  std::array<Span, 3> place_;
  Layout layout_;
  std::vector<Box> boundary_;
  Stencil stencil_;
  int steps_;
  std::string mode_;
  double slowdown_;
  double settle_s_;
  Separation separation_;
  std::vector<PlaneWave> waves_;
  Fields now_;
  Fields next_;
  std::vector<Exchange> halos_;
  double comp_s_ = 0;
  double comm_s_ = 0;
  double wait_s_ = 0;
};

std::unique_ptr<Experiment> prepare(const Preparation& preparation) { return std::make_unique<Solve>(preparation); }

}  // namespace

const Benchmark& minighost_solve_benchmark() {
  static const Benchmark benchmark{
      .name = "solve",
      .question = "How long does a stencil take whose halos are exchanged before or beside the computation?",
      .parameters = parameters(),
      .check = check,
      .prepare = prepare,
  };
  return benchmark;
}

}  // namespace workloads
