// SPDX-License-Identifier: BSD-3-Clause
#include "grid/decomposition.h"

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

Triple grid_of_faces(int ranks) { return require_process_grid(ranks, {ranks, ranks, ranks}, 3); }

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

}  // namespace workloads
