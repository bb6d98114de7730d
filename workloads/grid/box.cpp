// SPDX-License-Identifier: BSD-3-Clause
#include "grid/box.h"

#include <algorithm>

namespace workloads {

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

}  // namespace workloads
