// SPDX-License-Identifier: BSD-3-Clause
#include "common/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/errors.h"

namespace workloads {
namespace {

/// Points on the surfaces where the largest block meets others: on one side of an axis cut in two, else on both.
double surface(const Triple& grid, const Triple& points) {
  std::array<double, 3> edge{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    edge[axis] = block_of(points[axis], grid[axis], 0).size();
  }
  double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    sum += std::min(grid[axis] - 1, 2) * edge[(axis + 1) % 3] * edge[(axis + 2) % 3];
  }
  return sum;
}

bool fits(const Triple& grid, const Triple& points, int dimensions) {
  const auto cut = std::ranges::count_if(grid, [](int parts) { return parts > 1; });
  return cut <= dimensions && grid[0] <= points[0] && grid[1] <= points[1] && grid[2] <= points[2];
}

}  // namespace

Span block_of(int points, int parts, int index) noexcept {
  const int shorter = points / parts;
  const int longer = points % parts;
  const int begin = (index * shorter) + std::min(index, longer);
  return {.begin = begin, .end = begin + shorter + (index < longer ? 1 : 0)};
}

std::optional<Triple> process_grid(int ranks, const Triple& points, int dimensions) {
  std::optional<Triple> best;
  for (int i = ranks; i >= 1; --i) {
    for (int j = ranks / i; ranks % i == 0 && j >= 1; --j) {
      const Triple grid{i, j, ranks / i / j};
      const bool whole = ranks / i % j == 0;
      if (whole && fits(grid, points, dimensions) && (!best || surface(grid, points) < surface(*best, points))) {
        best = grid;
      }
    }
  }
  return best;
}

Triple require_process_grid(int ranks, const Triple& points, int dimensions) {
  if (const auto grid = process_grid(ranks, points, dimensions)) {
    return *grid;
  }
  int most = ranks;
  while (!process_grid(most, points, dimensions)) {
    --most;
  }
  throw UsageError(
      fmt::format("{} ranks cannot share {} x {} x {} points in {} dimension{}, each with a plane of its own: start {} "
                  "ranks or take a larger grid",
                  ranks, points[0], points[1], points[2], dimensions, dimensions == 1 ? "" : "s", most));
}

Decomposition::Decomposition(int rank, const Triple& process_grid, bool periodic)
    : grid_(process_grid),
      place_{rank / (process_grid[1] * process_grid[2]), rank / process_grid[2] % process_grid[1],
             rank % process_grid[2]},
      periodic_(periodic) {}

int Decomposition::neighbour(const Triple& offset) const noexcept {
  Triple place{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    place[axis] = place_[axis] + offset[axis];
    if (periodic_) {
      place[axis] = (place[axis] + grid_[axis]) % grid_[axis];
    } else if (place[axis] < 0 || place[axis] >= grid_[axis]) {
      return -1;
    }
  }
  return (((place[0] * grid_[1]) + place[1]) * grid_[2]) + place[2];
}

Triple Decomposition::margin() const noexcept {
  return {grid_[0] > 1 ? 1 : 0, grid_[1] > 1 ? 1 : 0, grid_[2] > 1 ? 1 : 0};
}

Span Decomposition::block(int axis, int points) const noexcept {
  const auto a = static_cast<std::size_t>(axis);
  return block_of(points, grid_[a], place_[a]);
}

Triple grid_of_faces(int ranks) { return require_process_grid(ranks, {ranks, ranks, ranks}, 3); }

std::vector<Face> faces_of(int rank, int ranks) {
  const Decomposition place(rank, grid_of_faces(ranks), false);
  std::vector<Face> faces;
  for (int direction = 0; direction < 6; ++direction) {
    Triple offset{};
    offset[static_cast<std::size_t>(direction / 2)] = direction % 2 == 0 ? -1 : 1;
    if (const int neighbour = place.neighbour(offset); neighbour >= 0) {
      faces.push_back({.neighbour = neighbour, .direction = direction});
    }
  }
  return faces;
}

int most_faces(int ranks) {
  int faces = 0;
  for (const int parts : grid_of_faces(ranks)) {
    faces += std::min(parts - 1, 2);
  }
  return faces;
}

std::size_t Box::points() const noexcept {
  std::size_t product = 1;
  for (int axis = 0; axis < 3; ++axis) {
    product *= static_cast<std::size_t>(std::max(size(axis), 0));
  }
  return product;
}

std::size_t Layout::stride(int axis) const noexcept {
  std::size_t product = 1;
  for (int a = 2; a > axis; --a) {
    product *= static_cast<std::size_t>(interior[static_cast<std::size_t>(a)] + (2 * ghosts));
  }
  return product;
}

std::size_t Layout::points() const noexcept { return stride(0) * static_cast<std::size_t>(interior[0] + (2 * ghosts)); }

std::size_t Layout::index(int i, int j, int k) const noexcept {
  const int before = ghosts - 1;  // of the points that have an index below 0
  return (static_cast<std::size_t>(i + before) * stride(0)) + (static_cast<std::size_t>(j + before) * stride(1)) +
         static_cast<std::size_t>(k + before);
}

Box Layout::inside(const Triple& margin) const noexcept {
  Box box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.begin[axis] = std::min(1 + margin[axis], interior[axis] + 1);
    box.end[axis] = std::max(interior[axis] + 1 - margin[axis], box.begin[axis]);
  }
  return box;
}

std::vector<Box> shell(const Box& outer, const Box& inner) {
  if (inner.points() == 0) {
    return {outer};
  }
  std::vector<Box> boxes;
  Box rest = outer;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Box before = rest;
    Box after = rest;
    before.end[axis] = rest.begin[axis] = inner.begin[axis];
    after.begin[axis] = rest.end[axis] = inner.end[axis];
    for (const Box& box : {before, after}) {
      if (box.points() > 0) {
        boxes.push_back(box);
      }
    }
  }
  return boxes;
}

namespace {

/// Axes before `with_ghosts_before` are sent with their ghosts.
HaloPart make_part(const Decomposition& ranks, const Triple& interior, const Triple& direction, int with_ghosts_before,
                   int depth = 1) {
  HaloPart part{.direction = direction, .neighbour = ranks.neighbour(direction), .send = {}, .receive = {}};
  for (int a = 0; a < 3; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const int n = interior[axis];
    if (direction[axis] == 0) {
      const int ghost = a < with_ghosts_before ? depth : 0;
      part.send.begin[axis] = part.receive.begin[axis] = 1 - ghost;
      part.send.end[axis] = part.receive.end[axis] = n + 1 + ghost;
    } else {
      part.send.begin[axis] = direction[axis] > 0 ? n + 1 - depth : 1;
      part.send.end[axis] = part.send.begin[axis] + depth;
      part.receive.begin[axis] = direction[axis] > 0 ? n + 1 : 1 - depth;
      part.receive.end[axis] = part.receive.begin[axis] + depth;
    }
  }
  return part;
}

}  // namespace

Triple opposite_of(const Triple& direction) noexcept { return {-direction[0], -direction[1], -direction[2]}; }

std::vector<HaloPart> all_parts(const Decomposition& ranks, const Triple& interior, bool corners) {
  constexpr int last = 26;
  constexpr int centre = last / 2;
  std::vector<HaloPart> parts;
  for (int c = 0; c < centre; ++c) {
    const Triple direction{(c / 9) - 1, (c / 3 % 3) - 1, (c % 3) - 1};
    const auto across = std::ranges::count_if(direction, [](int step) { return step != 0; });
    if (corners || across == 1) {
      parts.push_back(make_part(ranks, interior, direction, 0));
      parts.push_back(make_part(ranks, interior, opposite_of(direction), 0));
    }
  }
  return parts;
}

std::vector<HaloPart> axis_parts(const Decomposition& ranks, const Triple& interior, int axis, bool corners,
                                 int depth) {
  Triple direction{};
  direction[static_cast<std::size_t>(axis)] = -1;
  const int with_ghosts_before = corners ? axis : 0;
  return {make_part(ranks, interior, direction, with_ghosts_before, depth),
          make_part(ranks, interior, opposite_of(direction), with_ghosts_before, depth)};
}

}  // namespace workloads
