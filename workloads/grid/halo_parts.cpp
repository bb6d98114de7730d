// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_parts.h"

#include <algorithm>

namespace workloads {
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
    const auto axes = std::ranges::count_if(direction, [](int step) { return step != 0; });
    if (corners || axes == 1) {
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
