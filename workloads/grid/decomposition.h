// SPDX-License-Identifier: BSD-3-Clause
// A three-dimensional grid cut into one block a rank. No MPI here.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace workloads {

using Triple = std::array<int, 3>;

/// Half-open range of an axis.
struct Span {
  int begin = 0;
  int end = 0;
  [[nodiscard]] int size() const noexcept { return end - begin; }
};

/// Block `index` of `points` cut into `parts`: sizes differ by one at most, the longer ones first.
Span block_of(int points, int parts, int index) noexcept;

/// How many ranks each axis is cut for: at most `dimensions` axes are cut, the blocks' surface is smallest, and of
/// those that are alike the first axes, whose surfaces are contiguous in memory. Nothing if every way leaves a rank
/// without a plane.
std::optional<Triple> process_grid(int ranks, const Triple& points, int dimensions);

/// process_grid, or UsageError with a sentence that says how many ranks could share this grid.
Triple require_process_grid(int ranks, const Triple& points, int dimensions);

/// Where a rank sits in the process grid, and who its neighbours are. The last axis runs fastest.
class Decomposition {
 public:
  Decomposition(int rank, const Triple& process_grid, bool periodic);

  /// The rank at `offset` (-1, 0, 1 an axis), -1 beyond a boundary that is not periodic.
  [[nodiscard]] int neighbour(const Triple& offset) const noexcept;
  /// How far across each axis a point is from other ranks' points at most, if it is next to them: 1 where the axis is
  /// cut, else 0.
  [[nodiscard]] Triple margin() const noexcept;
  /// This rank's points of an axis that has `points` of them.
  [[nodiscard]] Span block(int axis, int points) const noexcept;

 private:
  Triple grid_;
  Triple place_;
  bool periodic_;
};

/// A neighbour across a face. Directions 2 m and 2 m + 1 are opposite.
struct Face {
  int neighbour;
  int direction;
  [[nodiscard]] int arriving() const noexcept { return direction ^ 1; }
};

/// Those of `rank` among `ranks`, six at most: each axis is cut, none is periodic, and all blocks are alike.
std::vector<Face> faces_of(int rank, int ranks);
/// How many the rank has that has most.
int most_faces(int ranks);

}  // namespace workloads
