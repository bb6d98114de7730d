// SPDX-License-Identifier: BSD-3-Clause
#include "minife/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/errors.h"

namespace workloads::minife {
namespace {

constexpr int default_edge = 32;

void add_traffic(Quantities& table, std::string_view of) {
  for (const auto kind : traffic_names) {
    table.push_back({.name = fmt::format("{}_{}", of, kind),
                     .unit = kind.starts_with("packets") ? "packets" : "bytes",
                     .better = Better::neither});
  }
}

}  // namespace

Parameters problem_parameters() {
  constexpr int most_edge = 4096;
  constexpr int most_iterations = 10'000;
  constexpr int iterations_of_minife = 200;
  const auto elements = [](const char* name, const char* meaning) {
    return integer_parameter(name, {2, most_edge}, "elements", meaning, default_edge);
  };
  return {
      elements("nx", "elements along x, the axis that is contiguous in memory"),
      elements("ny", "elements along y"),
      elements("nz", "elements along z, which is halved first"),
      integer_parameter("iterations", {1, most_iterations}, "iterations",
                        "at most; fewer if the residual is 1e-10 of the first one before", iterations_of_minife),
  };
}

const Parameters& solve_parameters() {
  static const Parameters table = [] {
    auto parameters = problem_parameters();
    parameters.push_back(
        choice_parameter("mode", Choices(mode_names.begin(), mode_names.end()),
                         "MPI_Send and MPI_Allreduce; the halo beside the rows that do not need it; or both, with one "
                         "MPI_Iallreduce an iteration beside the product",
                         "blocking"));
    parameters.push_back(flag_parameter(
        "barrier",
        "MPI_Barrier before each MPI_Allreduce, so that waiting for those who come late is timed apart from "
        "the reduction (not in mode pipelined)",
        false));
    parameters.push_back(flag_parameter(
        "packets",
        "count the packets of each call, by TCP_INFO of all connections, which takes some microseconds a call", false));
    return parameters;
  }();
  return table;
}

Mode mode_of(const Json& point) {
  const auto name = choice_of(point, solve_parameters(), "mode");
  return static_cast<Mode>(std::ranges::find(mode_names, name) - mode_names.begin());
}

Reductions reductions_of(const Json& point) {
  const Reductions reductions{.pipelined = mode_of(point) == Mode::pipelined,
                              .barrier_first = flag_of(point, solve_parameters(), "barrier")};
  if (reductions.pipelined && reductions.barrier_first) {
    throw UsageError("barrier = true: mode pipelined has no blocking reduction that a barrier could stand before");
  }
  return reductions;
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

Triple nodes_of(const Json& point, const Parameters& parameters) {
  const auto nodes = [&](std::string_view name) { return static_cast<int>(integer_of(point, parameters, name)) + 1; };
  return {nodes("nz"), nodes("ny"), nodes("nx")};
}

const Quantities& solver_quantities() {
  static const Quantities table = [] {
    Quantities quantities{
        leading(seconds("elapsed_s")),
        seconds("comp_s"),
        seconds("comm_s"),
        seconds("cpu_s"),
        {.name = "iterations", .unit = "iterations", .better = Better::neither},
        {.name = "true_residual", .unit = "1", .better = Better::neither},
    };
    for (const auto name : call_names) {
      quantities.push_back(seconds(fmt::format("{}_s", name)));
    }
    for (const auto name : call_names) {
      add_traffic(quantities, name);
    }
    add_traffic(quantities, "outside");
    return quantities;
  }();
  return table;
}

std::string_view seconds_of(Call call) {
  const auto name = fmt::format("{}_s", call_names[static_cast<std::size_t>(call)]);
  return std::ranges::find(solver_quantities(), name, &Quantity::name)->name;
}

namespace {

void halve(const Box& box, int ranks, std::size_t axis, std::vector<Box>& boxes) {
  if (ranks <= 1) {
    boxes.push_back(box);
    return;
  }
  const int low_ranks = ranks / 2;
  const auto nodes = static_cast<std::int64_t>(box.size(static_cast<int>(axis)));
  Box low = box;
  Box high = box;
  low.end[axis] = high.begin[axis] = box.begin[axis] + static_cast<int>(nodes * low_ranks / ranks);
  const std::size_t next = (axis + 1) % axes;
  halve(low, low_ranks, next, boxes);
  halve(high, ranks - low_ranks, next, boxes);
}

std::vector<Box> halves(const Triple& nodes, int ranks) {
  std::vector<Box> boxes;
  halve({.begin = {}, .end = nodes}, ranks, 0, boxes);
  return boxes;
}

bool is_empty(const Box& box) { return box.points() == 0; }

Box common(const Box& a, const Box& b) {
  Box both;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    both.begin[axis] = std::max(a.begin[axis], b.begin[axis]);
    both.end[axis] = std::max(std::min(a.end[axis], b.end[axis]), both.begin[axis]);
  }
  return both;
}

/// With all nodes that share an element with one of it.
Box grown(Box box) {
  for (std::size_t axis = 0; axis < axes; ++axis) {
    --box.begin[axis];
    ++box.end[axis];
  }
  return box;
}

/// In the places of a Layout, whose interior begins at 1.
Box placed(Box box, const Box& mine) {
  for (std::size_t axis = 0; axis < axes; ++axis) {
    box.begin[axis] += 1 - mine.begin[axis];
    box.end[axis] += 1 - mine.begin[axis];
  }
  return box;
}

/// Seen from the other one it is the opposite: that tells the messages of two ranks apart.
Triple direction(const Box& from, const Box& to) {
  Triple direction{};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    direction[axis] = static_cast<int>(to.begin[axis] >= from.end[axis]) -  //
                      static_cast<int>(to.end[axis] <= from.begin[axis]);
  }
  return direction;
}

}  // namespace

std::vector<Box> bisect(const Triple& nodes, int ranks) {
  auto boxes = halves(nodes, ranks);
  if (std::ranges::any_of(boxes, is_empty)) {
    int most = ranks - 1;
    while (most > 1 && std::ranges::any_of(halves(nodes, most), is_empty)) {
      --most;
    }
    throw UsageError(
        fmt::format("{} ranks cannot share {} x {} x {} nodes cut in halves: start {} or take a larger grid", ranks,
                    nodes[2], nodes[1], nodes[0], most));
  }
  return boxes;
}

std::vector<HaloPart> neighbours_of(const std::vector<Box>& boxes, int rank) {
  const Box& mine = boxes[static_cast<std::size_t>(rank)];
  std::vector<HaloPart> parts;
  for (std::size_t other = 0; other < boxes.size(); ++other) {
    const Box arriving = common(grown(mine), boxes[other]);
    if (std::cmp_not_equal(other, rank) && !is_empty(arriving)) {
      parts.push_back({.direction = direction(mine, boxes[other]),
                       .neighbour = static_cast<int>(other),
                       .send = placed(common(mine, grown(boxes[other])), mine),
                       .receive = placed(arriving, mine)});
    }
  }
  return parts;
}

Box without_neighbours(const Box& mine, const Triple& nodes) {
  Box inner = placed(mine, mine);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    inner.begin[axis] += mine.begin[axis] > 0 ? 1 : 0;
    inner.end[axis] = std::max(inner.end[axis] - (mine.end[axis] < nodes[axis] ? 1 : 0), inner.begin[axis]);
  }
  return inner;
}

}  // namespace workloads::minife
