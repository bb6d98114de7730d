// SPDX-License-Identifier: BSD-3-Clause
#include "minife/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/errors.h"

namespace workloads::minife {
namespace {

constexpr std::size_t axes = 3;

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
