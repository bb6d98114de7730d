// SPDX-License-Identifier: BSD-3-Clause
// NPB LU: steps of symmetric successive over-relaxation. A sweep goes through the ranks as a front: a plane after the
// other, each rank waits for what the ranks before it send of the plane, short messages all of them. It communicates
// as it is published, by calls that block: a plane's points wait for those before them, so that nothing is left to do
// beside a message.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "common/errors.h"
#include "common/halo.h"
#include "common/mpi_process.h"
#include "npb/lu_kernel.h"
#include "npb/npb.h"

namespace workloads::npb::lu {
namespace {

const Parameters& parameters() {
  static const Parameters table{
      class_parameter("an edge of 12 (S), 33 (W), 64 (A), 102 (B), 162 (C) or 408 (D) points")};
  return table;
}

const LuClass& problem_of(const Json& point) { return find_class(lu_classes(), point); }

/// A rank has three points or more along both axes that are cut: the stencil reaches two points far.
std::optional<Triple> cut_of(const LuClass& problem, int ranks) {
  constexpr int least = 3;
  const int most = problem.edge / least;
  return process_grid(ranks, {most, most, 1}, 2);
}

/// Axes 1 and 2 are cut. UsageError where the ranks cannot share them.
Triple columns_of(const LuClass& problem, int ranks) {
  if (const auto cut = cut_of(problem, ranks)) {
    return {1, (*cut)[0], (*cut)[1]};
  }
  int fewer = ranks - 1;
  while (!cut_of(problem, fewer)) {
    --fewer;
  }
  throw UsageError(
      fmt::format("{} ranks cannot run class {}: each needs 3 points or more along two axes of {} points; start {}",
                  ranks, problem.name, problem.edge, fewer));
}

void check(const Json& point, int ranks) {
  const auto& problem = problem_of(point);
  const auto columns = columns_of(problem, ranks);
  constexpr int ghosts = 4;  // on both sides
  double points = problem.edge + ghosts;
  for (const std::size_t axis : {1U, 2U}) {
    points *= block_of(problem.edge, columns[axis], 0).size() + ghosts;
  }
  constexpr double fields = 4.0 * lu_unknowns;
  require_memory("class " + class_of(point), points * fields * sizeof(double));
}

/// What a sweep sends of a plane: a line of points at a block's edge, all unknowns in one message.
class Line {
 public:
  Line(const Layout& layout, const Box& box, int neighbour)
      : layout_(layout), box_(box), neighbour_(neighbour), values_(neighbour < 0 ? 0 : box.points() * lu_unknowns) {}

  void receive(LuField& v, int plane, Phases& phases) {
    if (neighbour_ < 0) {
      return;
    }
    phases.communicate([&] {
      require(MPI_Recv(values_.data(), static_cast<int>(values_.size()), MPI_DOUBLE, neighbour_, tag, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
      copy(v, plane, [](double& message, double& point) { point = message; });
    });
  }

  void send(LuField& v, int plane, Phases& phases) {
    if (neighbour_ < 0) {
      return;
    }
    phases.communicate([&] {
      copy(v, plane, [](double& message, double& point) { message = point; });
      require(MPI_Send(values_.data(), static_cast<int>(values_.size()), MPI_DOUBLE, neighbour_, tag, MPI_COMM_WORLD));
    });
  }

 private:
  static constexpr int tag = 2 * HaloExchange<double>::tags;  // the halos' come before it

  template <class Action>
  void copy(LuField& v, int plane, Action action) {
    Box box = box_;
    box.begin[0] = plane;
    box.end[0] = plane + 1;
    auto next = values_.begin();
    for (auto& component : v.values) {
      for_each_row(layout_, box, [&](std::size_t first, std::size_t length) {
        for (std::size_t i = 0; i < length; ++i) {
          action(*next++, component[first + i]);
        }
      });
    }
  }

  Layout layout_;
  Box box_;  ///< one plane of it
  int neighbour_;
  std::vector<double> values_;
};

/// What a sweep in one direction receives, and what it sends.
struct Front {
  /// `sign`: where the sweep comes from, -1 before the block.
  Front(const LuShare& share, const Decomposition& ranks, int sign) {
    for (const std::size_t axis : {2U, 1U}) {
      const int n = share.layout.interior[axis];
      Triple step{};
      step[axis] = sign;
      incoming.emplace_back(share.layout, line(share, axis, sign < 0 ? 0 : n + 1), ranks.neighbour(step));
      step[axis] = -sign;
      outgoing.emplace_back(share.layout, line(share, axis, sign < 0 ? n : 1), ranks.neighbour(step));
    }
  }

  std::vector<Line> incoming;
  std::vector<Line> outgoing;

 private:
  static Box line(const LuShare& share, std::size_t axis, int place) {
    Box box = share.inner;
    box.begin[0] = 1;
    box.end[0] = 2;
    box.begin[axis] = place;
    box.end[axis] = place + 1;
    return box;
  }
};

class Lu final : public Kernel {
 public:
  explicit Lu(const Preparation& preparation)
      : problem_(problem_of(preparation.point)),
        ranks_(preparation.mpi.rank(), columns_of(problem_, preparation.mpi.size()), false),
        share_(problem_, ranks_),
        u_(share_.layout),
        ratios_(share_.layout),
        v_(share_.layout),
        forcing_(share_.layout),
        from_below_(share_, ranks_, -1),
        from_above_(share_, ranks_, 1) {
    for (const int axis : {2, 1}) {
      constexpr int depth = 2;
      halos_.emplace_back(preparation.mpi.rank(), axis_parts(ranks_, share_.layout.interior, axis, false, depth),
                          share_.layout, lu_unknowns, (axis - 1) * HaloExchange<double>::tags);
    }
    lu_exact(share_, u_);
    lu_ratios(share_, u_, ratios_);
    lu_add_operator(share_, u_, ratios_, forcing_);
  }

  void restart() override {
    lu_start(share_, u_);
    Phases untimed(1);
    find_residual(untimed);
  }

  void run(Phases& phases) override {
    const Box& inner = share_.inner;
    for (int step = 0; step < problem_.steps; ++step) {
      lu_scale(share_, v_);
      for (int plane = inner.begin[0]; plane < inner.end[0]; ++plane) {
        through(from_below_, plane, phases, lu_lower_sweep);
      }
      for (int plane = inner.end[0] - 1; plane >= inner.begin[0]; --plane) {
        through(from_above_, plane, phases, lu_upper_sweep);
      }
      lu_update(share_, v_, u_);
      find_residual(phases);
    }
    Five squares = lu_squares(share_, v_);
    phases.communicate([&] { add_up(squares); });
    result_.residuals = means(squares);
  }

  std::string verify() override {
    Five squares = lu_squares_of_error(share_, u_);
    add_up(squares);
    result_.errors = means(squares);
    std::array<double, 1> surface{lu_surface(share_, u_)};
    add_up(surface);
    result_.surface = surface[0];
    if (is_right(problem_, result_)) {
      return {};
    }
    return fmt::format(
        "class {}: residuals {:.13e}, errors {:.13e} and a surface integral of {:.13e} are not those "
        "that are published",
        problem_.name, fmt::join(result_.residuals, " "), fmt::join(result_.errors, " "), result_.surface);
  }

  /// As the benchmark counts them.
  [[nodiscard]] double operations() const override {
    const double n = problem_.edge;
    return problem_.steps * ((1984.77 * n * n * n) - (10923.3 * n * n) + (27770.9 * n) - 144010);
  }

 private:
  template <class Sweep>
  void through(Front& front, int plane, Phases& phases, Sweep sweep) {
    for (auto& line : front.incoming) {
      line.receive(v_, plane, phases);
    }
    sweep(share_, ratios_, v_, plane);
    for (auto& line : front.outgoing) {
      line.send(v_, plane, phases);
    }
  }

  /// Into v.
  void find_residual(Phases& phases) {
    std::array<double*, lu_unknowns> fields{};
    std::ranges::transform(u_.values, fields.begin(), [](auto& values) { return values.data(); });
    phases.communicate([&] {
      for (auto& halo : halos_) {
        halo.post_receives();
        halo.pack(fields);
        halo.send();
        halo.wait();
        halo.unpack(fields);
      }
    });
    lu_ratios(share_, u_, ratios_);
    for (std::size_t m = 0; m < lu_unknowns; ++m) {
      std::ranges::transform(forcing_.values[m], v_.values[m].begin(), std::negate());
    }
    lu_add_operator(share_, u_, ratios_, v_);
  }

  static void add_up(std::span<double> sums) {
    require(
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  }

  [[nodiscard]] Five means(const Five& squares) const {
    Five roots{};
    const double inner = problem_.edge - 2;
    std::ranges::transform(squares, roots.begin(),
                           [&](double sum) { return std::sqrt(sum / (inner * inner * inner)); });
    return roots;
  }

  const LuClass& problem_;
  Decomposition ranks_;
  LuShare share_;
  LuField u_;
  LuField ratios_;
  LuField v_;  ///< the residual, then the step's correction; zero on the grid's boundary
  LuField forcing_;
  Front from_below_;
  Front from_above_;
  std::vector<HaloExchange<double>> halos_;  ///< one after the other
  LuResult result_;
};

}  // namespace
}  // namespace workloads::npb::lu

const workloads::Benchmark& workloads::lu_benchmark() {
  static const Benchmark benchmark{
      .name = "lu",
      .question = "NPB LU: how long do sweeps take that go from rank to rank with short messages?",
      .parameters = npb::lu::parameters(),
      .quantities = kernel_quantities(),
      .check = npb::lu::check,
      .prepare = make_kernel<npb::lu::Lu>,
  };
  return benchmark;
}
