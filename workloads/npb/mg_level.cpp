// SPDX-License-Identifier: BSD-3-Clause
#include "npb/mg_level.h"

namespace workloads::npb {
namespace {

Layout layout_of(const Decomposition& ranks, int edge) {
  return {.interior = {ranks.block(0, edge).size(), ranks.block(1, edge).size(), ranks.block(2, edge).size()}};
}

}  // namespace

MgLevel::MgLevel(int rank, const Decomposition& ranks, int edge, bool at_once)
    : margin(ranks.margin()), u(layout_of(ranks, edge)), r(u.layout) {
  if (at_once) {
    halos.emplace_back(rank, all_parts(ranks, u.layout.interior, true), u.layout, 1);
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    halos.emplace_back(rank, axis_parts(ranks, u.layout.interior, axis), u.layout, 1);
  }
}

}  // namespace workloads::npb
