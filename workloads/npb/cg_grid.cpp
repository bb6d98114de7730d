// SPDX-License-Identifier: BSD-3-Clause
#include "npb/cg_grid.h"

#include <bit>

namespace workloads::npb {

CgGrid::CgGrid(int n, int rank, int ranks)
    : n_(n),
      down_(1 << (std::countr_zero(static_cast<unsigned>(ranks)) / 2)),
      across_(ranks / down_),
      row_(rank / across_),
      column_(rank % across_),
      kept_{.begin = 0, .end = rows().size()} {
  if (halves()) {
    const Span half = part((2 * row_) + (column_ % 2));
    kept_ = {.begin = half.begin - rows().begin, .end = half.end - rows().begin};
  }
  for (int bit = 1; bit < across_; bit *= 2) {
    partners_.push_back((row_ * across_) + (column_ ^ bit));
  }
}

Span CgGrid::rows() const noexcept {
  return halves() ? Span{.begin = part(2 * row_).begin, .end = part((2 * row_) + 1).end} : part(row_);
}

Span CgGrid::columns() const noexcept { return part(column_); }

Span CgGrid::given() const noexcept {
  if (!halves()) {
    return {};
  }
  return kept_.begin > 0 ? Span{.begin = 0, .end = kept_.begin} : Span{.begin = kept_.end, .end = rows().size()};
}

int CgGrid::transposed() const noexcept {
  return halves() ? (column_ / 2 * across_) + (2 * row_) + (column_ % 2) : (column_ * across_) + row_;
}

}  // namespace workloads::npb
