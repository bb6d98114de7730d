// SPDX-License-Identifier: BSD-3-Clause
// NPB MG: V-cycles on a periodic grid. Overlapped, the points that need no ghosts are computed while those travel.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/halo.h"
#include "common/mpi_process.h"
#include "npb/mg_kernel.h"
#include "npb/npb.h"

namespace workloads::npb {

// One grid of MG's V-cycle on a rank, and the exchange of its ghosts.

struct MgLevel {
  /// `edge` points an axis, cut for the ranks as `ranks` says. Ghosts come axis after axis as the benchmark is
  /// published, or from all 26 neighbours at once.
  MgLevel(int rank, const Decomposition& ranks, int edge, bool at_once);

  Triple margin;  ///< next to other ranks' points, see Decomposition::margin
  MgField u;
  MgField r;
  std::vector<HaloExchange<double>> halos;  ///< one after the other
};

namespace {

Layout layout_of(const Decomposition& ranks, int edge) {
  return {.interior = {ranks.block(0, edge).size(), ranks.block(1, edge).size(), ranks.block(2, edge).size()}};
}

}  // namespace

MgLevel::MgLevel(int rank, const Decomposition& ranks, int edge, bool at_once)
    : margin(ranks.margin()), u(layout_of(ranks, edge)), r(u.layout) {
  if (at_once) {
    halos.emplace_back(rank, all_parts(ranks, u.layout.interior, true), u.layout, 1);
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    halos.emplace_back(rank, axis_parts(ranks, u.layout.interior, axis), u.layout, 1);
  }
}

}  // namespace workloads::npb

// NPB MG: V-cycles of a multigrid method on a periodic cube. Overlapped, an operator computes the points that need no
// ghost while the ghosts of what the last one computed travel.
//
// A level whose grid has too few points for all ranks is computed by each rank as a whole, with the finer level's
// residual gathered from all: the arithmetic of the published code, which leaves such levels to fewer ranks.

namespace workloads::npb::mg {
namespace {

const Parameters& parameters() {
  static const auto table = kernel_parameters(
      "an edge of 32 (S), 128 (W), 256 (A, and B with more iterations), 512 (C) "
      "or 1024 (D) points");
  return table;
}

const MgClass& problem_of(const Json& point) { return find_class(mg_classes(), point); }

Triple ranks_along(const MgClass& problem, int ranks) {
  return require_process_grid(ranks, {problem.edge(), problem.edge(), problem.edge()}, 3);
}

void check(const Json& point, int ranks) {
  const auto& problem = problem_of(point);
  constexpr int most_along = 64;
  const int along = std::min(problem.edge() / 4, most_along);
  require_ranks(point, ranks, 1, along * along * along);
  double points = 1;
  for (const int parts : ranks_along(problem, ranks)) {
    points *= (problem.edge() / parts) + 2;  // NOLINT(bugprone-integer-division): they divide
  }
  constexpr double fields = 1 + (2 * 8 / 7.0);  // the right-hand side; u and r, of all levels
  require_memory("class " + class_of(point), points * fields * sizeof(double));
}

/// The innermost level that is shared among the ranks: each has a point of it.
int coarsest_shared(const Triple& parts) {
  const int most = *std::ranges::max_element(parts);
  return std::max(std::countr_zero(static_cast<unsigned>(most)), 1);
}

class Mg final : public Kernel {
 public:
  explicit Mg(const Preparation& preparation)
      : problem_(problem_of(preparation.point)),
        overlapped_(is_overlapped(preparation.point)),
        ranks_(preparation.mpi.size()),
        parts_(ranks_along(problem_, ranks_)),
        place_(preparation.mpi.rank(), parts_, true),
        shared_(coarsest_shared(parts_)),
        levels_(make_levels(preparation.mpi.rank())),
        right_(finest().u.layout) {
    if (shared_ > 1) {
      gathered_ = std::make_unique<MgLevel>(0, alone(), 1 << shared_, overlapped_);
    }
    place_charges();
  }

  void restart() override { std::ranges::fill(finest().u.values, 0); }

  void run(Phases& phases) override {
    find_residual(phases);
    norm(phases);
    for (int iteration = 0; iteration < problem_.iterations; ++iteration) {
      descend(phases);
      ascend(phases);
      find_residual(phases);
    }
    norm_ = norm(phases);
    finish_exchange(phases);
  }

  std::string verify() override {
    return is_right(problem_, norm_) ? ""
                                     : fmt::format("class {}: the residual's norm is {:.13e}, and {:.13e} is right",
                                                   problem_.name, norm_, problem_.norm);
  }

  /// As the benchmark counts them.
  [[nodiscard]] double operations() const override {
    constexpr double a_point = 58;
    return a_point * problem_.iterations * std::pow(problem_.edge(), 3);
  }

 private:
  static Decomposition alone() { return {0, {1, 1, 1}, true}; }

  [[nodiscard]] std::vector<MgLevel> make_levels(int rank) const {
    std::vector<MgLevel> levels;
    for (int number = 1; number <= problem_.levels; ++number) {
      const bool whole = number < shared_;
      levels.emplace_back(whole ? 0 : rank, whole ? alone() : place_, 1 << number, overlapped_);
    }
    return levels;
  }

  MgLevel& level(int number) { return levels_[static_cast<std::size_t>(number - 1)]; }
  MgLevel& finest() { return levels_.back(); }

  /// Computes `all` points of a block, `compute(box)` at a time: those that need no other rank's ghosts first, if
  /// ghosts are on their way. A block that is not cut along an axis is followed by one that is not cut there either.
  template <class Compute>
  void sweep(const Layout& layout, const Box& all, Phases& phases, Compute compute) {
    if (underway_ == nullptr) {
      compute(all);
      return;
    }
    const Box inner = layout.inside(underway_->margin);
    if (inner.points() > 0) {
      compute(inner);
    }
    finish_exchange(phases);
    std::ranges::for_each(shell(all, inner), compute);
  }

  void exchange(MgLevel& level, MgField& field, Phases& phases) {
    const std::array<double*, 1> fields{field.values.data()};
    phases.communicate([&] {
      for (auto& halo : level.halos) {
        halo.post_receives();
        halo.post_sends(fields);
        if (!overlapped_) {
          halo.wait();
          halo.unpack(fields);
        }
      }
    });
    underway_ = overlapped_ ? &level : nullptr;
    travelling_ = &field;
  }

  void finish_exchange(Phases& phases) {
    if (underway_ == nullptr) {
      return;
    }
    const std::array<double*, 1> fields{travelling_->values.data()};
    phases.communicate([&] {
      underway_->halos.front().wait();
      underway_->halos.front().unpack(fields);
    });
    underway_ = nullptr;
  }

  void find_residual(Phases& phases) { find_residual(finest(), right_, phases); }

  void find_residual(MgLevel& level, const MgField& right, Phases& phases) {
    const Layout& layout = level.r.layout;
    sweep(layout, layout.inside(0), phases, [&](const Box& box) { residual(level.u, right, level.r, box); });
    exchange(level, level.r, phases);
  }

  void smooth_level(MgLevel& level, Phases& phases) {
    const Layout& layout = level.u.layout;
    sweep(layout, layout.inside(0), phases, [&](const Box& box) { smooth(level.r, level.u, box, problem_.small); });
    exchange(level, level.u, phases);
  }

  void restrict_level(const MgLevel& fine, MgLevel& coarse, Phases& phases) {
    const Layout& layout = coarse.r.layout;
    sweep(layout, layout.inside(0), phases, [&](const Box& box) { restrict_to(fine.r, coarse.r, box); });
    exchange(coarse, coarse.r, phases);
  }

  /// Ghosts too: those of the coarse block are there.
  void interpolate_level(const MgLevel& coarse, MgLevel& fine, Phases& phases) {
    const Layout& layout = fine.u.layout;
    const Box all{.begin = {}, .end = {layout.interior[0] + 2, layout.interior[1] + 2, layout.interior[2] + 2}};
    sweep(layout, all, phases, [&](const Box& box) { interpolate(coarse.u, fine.u, box); });
  }

  void descend(Phases& phases) {
    for (int number = problem_.levels; number > 1; --number) {
      if (number == shared_) {
        gather(phases);
      }
      restrict_level(number == shared_ ? *gathered_ : level(number), level(number - 1), phases);
    }
    std::ranges::fill(level(1).u.values, 0);
    smooth_level(level(1), phases);
  }

  void ascend(Phases& phases) {
    for (int number = 2; number <= problem_.levels; ++number) {
      auto& here = level(number);
      const bool is_finest = number == problem_.levels;
      if (!is_finest) {
        std::ranges::fill(here.u.values, 0);
      }
      if (number == shared_) {
        std::ranges::fill(gathered_->u.values, 0);
        interpolate_level(level(number - 1), *gathered_, phases);
        take_part(gathered_->u, here.u);
      } else {
        interpolate_level(level(number - 1), here, phases);
      }
      find_residual(here, is_finest ? right_ : here.r, phases);
      smooth_level(here, phases);
    }
  }

  /// The residual of the coarsest shared level, on all ranks as a whole.
  void gather(Phases& phases) {
    finish_exchange(phases);
    const auto& mine = level(shared_).r;
    const auto count = mine.layout.inside(0).points();
    std::vector<double> out;
    out.reserve(count);
    for_each_row(mine.layout, mine.layout.inside(0), [&](std::size_t first, std::size_t length) {
      out.insert(out.end(), mine.values.begin() + static_cast<std::ptrdiff_t>(first),
                 mine.values.begin() + static_cast<std::ptrdiff_t>(first + length));
    });
    std::vector<double> all(count * static_cast<std::size_t>(ranks_));
    phases.communicate([&] {
      require(MPI_Allgather(out.data(), static_cast<int>(count), MPI_DOUBLE, all.data(), static_cast<int>(count),
                            MPI_DOUBLE, MPI_COMM_WORLD));
    });
    auto from = all.cbegin();
    auto& whole = gathered_->r;
    for (int rank = 0; rank < ranks_; ++rank) {
      for_each_row(whole.layout, interior_of(rank), [&](std::size_t first, std::size_t length) {
        std::copy_n(from, length, whole.values.begin() + static_cast<std::ptrdiff_t>(first));
        from += static_cast<std::ptrdiff_t>(length);
      });
    }
    exchange(*gathered_, whole, phases);
  }

  /// A rank's points of the coarsest shared level, in the whole grid of it.
  [[nodiscard]] Box interior_of(int rank) const {
    const Decomposition place(rank, parts_, true);
    Box box;
    for (int axis = 0; axis < 3; ++axis) {
      const Span block = place.block(axis, 1 << shared_);
      box.begin[static_cast<std::size_t>(axis)] = block.begin + 1;
      box.end[static_cast<std::size_t>(axis)] = block.end + 1;
    }
    return box;
  }

  /// This rank's part of a whole grid, with its ghosts.
  void take_part(const MgField& whole, MgField& part) const {
    const auto [i, j, k] = Triple{place_.block(0, 1 << shared_).begin, place_.block(1, 1 << shared_).begin,
                                  place_.block(2, 1 << shared_).begin};
    const Triple& n = part.layout.interior;
    for (int a = 0; a < n[0] + 2; ++a) {
      for (int b = 0; b < n[1] + 2; ++b) {
        std::copy_n(whole.values.data() + whole.layout.index(i + a, j + b, k), n[2] + 2,
                    part.values.data() + part.layout.index(a, b, 0));
      }
    }
  }

  /// Of the finest level's residual.
  double norm(Phases& phases) {
    double sum = sum_of_squares(finest().r);
    phases.communicate([&] { require(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)); });
    return std::sqrt(sum / std::pow(problem_.edge(), 3));
  }

  void place_charges() {
    const int edge = problem_.edge();
    const std::array<Span, 3> block{place_.block(0, edge), place_.block(1, edge), place_.block(2, edge)};
    for (const bool largest : {true, false}) {
      for (const Charge& charge : of_all_ranks(extreme_points(problem_, block, largest), largest)) {
        const std::array<std::int64_t, 3> at{charge.point / edge / edge, charge.point / edge % edge,
                                             charge.point % edge};
        Triple here{};
        bool mine = true;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          mine = mine && at[axis] >= block[axis].begin && at[axis] < block[axis].end;
          here[axis] = static_cast<int>(at[axis]) - block[axis].begin + 1;
        }
        if (mine) {
          right_.values[right_.layout.index(here[0], here[1], here[2])] = largest ? 1 : -1;
        }
      }
    }
  }

  [[nodiscard]] std::vector<Charge> of_all_ranks(std::vector<Charge> mine, bool largest) const {
    mine.resize(charges_of_a_sign, {.value = largest ? -1.0 : 2.0, .point = 0});  // a small block has fewer points
    std::vector<Charge> all(mine.size() * static_cast<std::size_t>(ranks_));
    const auto bytes = static_cast<int>(mine.size() * sizeof(Charge));
    require(MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD));
    keep_extreme(all, largest);
    return all;
  }

  const MgClass& problem_;
  bool overlapped_;
  int ranks_;
  Triple parts_;
  Decomposition place_;
  int shared_;                   ///< the coarsest level that is not computed as a whole by each rank
  std::vector<MgLevel> levels_;  ///< 1 and finer
  MgField right_;
  std::unique_ptr<MgLevel> gathered_;  ///< the coarsest shared level as a whole, where there are coarser ones
  MgLevel* underway_ = nullptr;        ///< whose ghosts travel
  MgField* travelling_ = nullptr;
  double norm_ = 0;
};

}  // namespace
}  // namespace workloads::npb::mg

const workloads::Benchmark& workloads::mg_benchmark() {
  static const Benchmark benchmark{
      .name = "mg",
      .question = "NPB MG: how long do a multigrid method's stencils take, with messages of all sizes between them?",
      .parameters = npb::mg::parameters(),
      .quantities = kernel_quantities(),
      .check = npb::mg::check,
      .prepare = make_kernel<npb::mg::Mg>,
  };
  return benchmark;
}
