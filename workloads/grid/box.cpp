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
    product *= static_cast<std::size_t>(interior[static_cast<std::size_t>(a)] + 2);
  }
  return product;
}

std::size_t Layout::points() const noexcept { return stride(0) * static_cast<std::size_t>(interior[0] + 2); }

std::size_t Layout::index(int i, int j, int k) const noexcept {
  return (static_cast<std::size_t>(i) * stride(0)) + (static_cast<std::size_t>(j) * stride(1)) +
         static_cast<std::size_t>(k);
}

Box Layout::inside(int margin) const noexcept {
  Box box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.begin[axis] = std::min(1 + margin, interior[axis] + 1);
    box.end[axis] = std::max(interior[axis] + 1 - margin, box.begin[axis]);
  }
  return box;
}

}  // namespace workloads
