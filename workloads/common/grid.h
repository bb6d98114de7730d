// SPDX-License-Identifier: BSD-3-Clause
// A three-dimensional grid cut into one block a rank. No MPI here.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace workloads {

inline constexpr std::size_t axes = 3;
using Triple = std::array<int, axes>;

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

/// The process grid of these faces.
Triple grid_of_faces(int ranks);
/// Those of `rank` among `ranks`, six at most: each axis is cut, none is periodic, and all blocks are alike.
std::vector<Face> faces_of(int rank, int ranks);
/// How many the rank has that has most.
int most_faces(int ranks);

// Boxes of points in a block that has layers of ghosts around its interior: the interior is 1..n of each axis.

/// Half-open.
struct Box {
  Triple begin{};
  Triple end{};
  [[nodiscard]] std::size_t points() const noexcept;
  [[nodiscard]] int size(int axis) const noexcept {
    return end[static_cast<std::size_t>(axis)] - begin[static_cast<std::size_t>(axis)];
  }
};

/// The boxes, at most six, that `outer` has beyond `inner`, which lies in it.
std::vector<Box> shell(const Box& outer, const Box& inner);

/// The storage of a block: its interior and ghosts on either side, the last axis contiguous.
struct Layout {
  Triple interior{};
  int ghosts = 1;  ///< layers: with two, points -1 and 0 and n + 1 and n + 2 of each axis
  [[nodiscard]] std::size_t stride(int axis) const noexcept;
  [[nodiscard]] std::size_t points() const noexcept;
  [[nodiscard]] std::size_t index(int i, int j, int k) const noexcept;
  /// All interior points but those within `margin` of the block's surface, across each axis; empty if there are none.
  [[nodiscard]] Box inside(const Triple& margin) const noexcept;
  [[nodiscard]] Box inside(int margin) const noexcept { return inside({margin, margin, margin}); }
};

/// Calls action(index of the row's first point, its length) for each row of the box.
template <class Action>
void for_each_row(const Layout& layout, const Box& box, Action action) {
  for (int i = box.begin[0]; i < box.end[0]; ++i) {
    for (int j = box.begin[1]; j < box.end[1]; ++j) {
      action(layout.index(i, j, box.begin[2]), static_cast<std::size_t>(box.size(2)));
    }
  }
}

// Which points of a block's surface go to which neighbour's ghosts. No MPI here.

/// From the neighbour's side.
Triple opposite_of(const Triple& direction) noexcept;

/// One neighbour: what it is sent (points of the interior's edge) and what it sends (points of the ghosts).
struct HaloPart {
  Triple direction{};
  int neighbour = -1;  ///< none beyond the domain
  Box send;
  Box receive;
};

/// Everything at once: the six faces, or with `corners` the 26 faces, edges and corners. Opposite directions are
/// neighbours in the list: 2m and 2m + 1.
std::vector<HaloPart> all_parts(const Decomposition& ranks, const Triple& interior, bool corners);

/// The two faces across one axis, with `corners` with the ghosts of the axes before it: one axis after another, three
/// exchanges of two messages then fill edges and corners too. `depth` layers of ghosts, each block having as many
/// points.
std::vector<HaloPart> axis_parts(const Decomposition& ranks, const Triple& interior, int axis, bool corners = true,
                                 int depth = 1);

}  // namespace workloads
