// SPDX-License-Identifier: BSD-3-Clause
// Boxes of points in a block that has layers of ghosts around its interior: the interior is 1..n of each axis.
#pragma once

#include <cstddef>
#include <vector>

#include "grid/decomposition.h"

namespace workloads {

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

}  // namespace workloads
