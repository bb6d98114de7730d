// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "common/clock.h"
#include "common/errors.h"
#include "common/mpi_process.h"
#include "common/separation.h"
#include "minighost/solve.h"

namespace workloads::minighost {
namespace {

constexpr int most_points = 16384;  // of an axis
constexpr int most_variables = 40;  // as in miniGhost
constexpr int most_steps = 1'000'000;
constexpr int face_neighbours = 6;
constexpr int all_neighbours = 26;

Parameter integer(const char* name, int maximum, const char* meaning, int default_value) {
  return integer_parameter(name, {1, maximum}, "", meaning, default_value);
}

int number(const Json& point, std::string_view name) {
  return static_cast<int>(integer_of(point, solve_parameters(), name));
}

/// Those that the stencil reads unless the point says more.
int neighbours_of(const Json& point) {
  const int asked = number(point, "neighbours");
  const int read = number(point, "stencil") - 1;
  return asked == 0 ? read : asked;
}

Triple smallest_block(const Triple& grid, const Triple& process_grid) {
  return {grid[0] / process_grid[0], grid[1] / process_grid[1], grid[2] / process_grid[2]};
}

/// UsageError where a rank would have nothing to compute beside its messages.
void require_interior(const Triple& block) {
  constexpr int least = 3;
  if (std::ranges::min(block) < least) {
    throw UsageError(
        fmt::format("mode overlapped needs blocks of {} points or more along each axis, and a rank has {} x {} x {}: "
                    "take a larger grid, or mode direct",
                    least, block[0], block[1], block[2]));
  }
}

/// Of the buffers of all messages. UsageError where one has more values than MPI counts.
double bytes_of_halos(const SolvePoint& point, const Triple& process_grid, const Triple& block) {
  constexpr int rank = 0;  // whose block is the longest along each axis
  double values = 0;
  for (const auto& parts : exchanges_of(point, Decomposition(rank, process_grid, true), block)) {
    for (const HaloPart& part : parts) {
      const double message = static_cast<double>(part.send.points()) * point.variables;
      if (message > std::numeric_limits<int>::max()) {
        throw UsageError(
            fmt::format("{} x {} x {} points with {} variables have halos of {:.0f} values, more than MPI counts in a "
                        "message: start more ranks or take fewer variables",
                        point.grid[0], point.grid[1], point.grid[2], point.variables, message));
      }
      values += part.neighbour == rank ? message : 2 * message;  // what the rank sends itself is copied from there
    }
  }
  return values * sizeof(double);
}

}  // namespace

const Parameters& solve_parameters() {
  constexpr int edge = 64;
  static const Parameters table{
      integer("nx", most_points, "points of the whole grid along its first axis", edge),
      integer("ny", most_points, "points along the second axis", edge),
      integer("nz", most_points, "points along the third axis, which is contiguous in memory", edge),
      integer("variables", most_variables, "variables, all sent to a neighbour in one message", 5),
      integer_parameter("stencil", {7, 27}, "points", "7 or 27", 7),
      integer_parameter(
          "neighbours", {0, all_neighbours}, "",
          "whose points a block gets: 6 across faces, or 26 across edges and corners, too; 0: as many as the "
          "stencil reads",
          0),
      integer("steps", most_steps, "time steps of a repetition", 10),
      choice_parameter("mode", {"blocking", "nonblocking", "direct", "overlapped"},
                       "axis after axis by MPI_Sendrecv, or by MPI_Isend and MPI_Irecv; all neighbours directly and at "
                       "once, and then the computation; or that with the interior computed before the wait and the "
                       "boundary after it",
                       "direct"),
      reduction_parameter(),
      separation_parameter(),
  };
  return table;
}

SolvePoint::SolvePoint(const Json& point)
    : grid{number(point, "nx"), number(point, "ny"), number(point, "nz")},
      variables(number(point, "variables")),
      stencil(number(point, "stencil") == 7 ? Stencil::seven : Stencil::twenty_seven),
      corners(neighbours_of(point) == all_neighbours),
      steps(number(point, "steps")),
      mode(choice_of(point, solve_parameters(), "mode")),
      reduction(choice_of(point, solve_parameters(), "reduction")),
      placement(choice_of(point, solve_parameters(), "placement")) {}

std::vector<std::vector<HaloPart>> exchanges_of(const SolvePoint& point, const Decomposition& ranks,
                                                const Triple& interior) {
  if (point.mode == "direct" || point.mode == "overlapped") {
    return {all_parts(ranks, interior, point.corners)};
  }
  const auto along = [&](int axis) { return axis_parts(ranks, interior, axis, point.corners); };
  return {along(0), along(1), along(2)};  // edges and corners come with the second and the third
}

void check_solve(const Json& point, int ranks) {
  const int stencil = number(point, "stencil");
  if (stencil != 7 && stencil != 27) {
    throw UsageError(fmt::format("stencil = {}: 7 or 27 is needed", stencil));
  }
  const int neighbours = neighbours_of(point);
  if (neighbours != all_neighbours && (neighbours != face_neighbours || stencil != 7)) {
    throw UsageError(fmt::format("neighbours = {}: a stencil of {} points needs {}", neighbours, stencil,
                                 stencil == 7 ? "6 or 26" : "26"));
  }
  const SolvePoint asked(point);
  const Triple parts = require_process_grid(ranks, asked.grid, 3);
  if (asked.mode == "overlapped") {
    require_interior(smallest_block(asked.grid, parts));
  }
  Triple block{};
  double points = 1;  // with ghosts
  for (std::size_t axis = 0; axis < 3; ++axis) {
    block[axis] = block_of(asked.grid[axis], parts[axis], 0).size();
    points *= block[axis] + 2;
  }
  const double halos = bytes_of_halos(asked, parts, block);
  require_memory(fmt::format("a grid of {} x {} x {} points", asked.grid[0], asked.grid[1], asked.grid[2]),
                 (points * 2 * asked.variables * sizeof(double)) + halos);
}

Parameter reduction_parameter() {
  return choice_parameter(
      "reduction", {"none", "blocking", "late"},
      "the sums over the grid after each step: none; MPI_Allreduce; MPI_Iallreduce that completes one step "
      "later",
      "none");
}

GlobalSum::GlobalSum(std::string reduction, std::vector<double> expected)
    : reduction_(std::move(reduction)),
      expected_(std::move(expected)),
      mine_(expected_.size()),
      sums_(expected_.size()) {}

void GlobalSum::restart() {
  elapsed_s_ = 0;
  steps_ = 0;
  problem_.clear();
}

void GlobalSum::add(std::span<const double> mine) {
  finish();
  std::ranges::copy(mine, mine_.begin());
  const auto count = static_cast<int>(mine_.size());
  const auto begin = Clock::now();
  if (reduction_ == "late") {
    require(MPI_Iallreduce(mine_.data(), sums_.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request_));
    elapsed_s_ += seconds_since(begin);
    return;
  }
  require(MPI_Allreduce(mine_.data(), sums_.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  elapsed_s_ += seconds_since(begin);
  check();
}

void GlobalSum::finish() {
  if (request_ == MPI_REQUEST_NULL) {
    return;
  }
  const auto begin = Clock::now();
  // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): add() has started it
  require(MPI_Wait(&request_, MPI_STATUS_IGNORE));
  elapsed_s_ += seconds_since(begin);
  check();
}

void GlobalSum::check() {
  constexpr double rounding = 1e-11;
  ++steps_;
  for (std::size_t variable = 0; variable < sums_.size() && problem_.empty(); ++variable) {
    const double right = expected_[variable];
    if (!(std::abs(sums_[variable] - right) <= rounding * right)) {
      problem_ = fmt::format("variable {}: the sum over the grid was {:.15g} after step {}, and {:.15g} is conserved",
                             variable, sums_[variable], steps_, right);
    }
  }
}

}  // namespace workloads::minighost
