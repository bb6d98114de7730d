// SPDX-License-Identifier: BSD-3-Clause
// CG's matrix cut into blocks, a power of two in either direction: as many columns of blocks as rows, or twice as many.
// A vector is cut like the columns; each rank of a column of blocks has the same part.
#pragma once

#include <vector>

#include "grid/decomposition.h"

namespace workloads::npb {

class CgGrid {
 public:
  /// `ranks`: a power of two, no more than n.
  CgGrid(int n, int rank, int ranks);

  [[nodiscard]] Span rows() const noexcept;     ///< of this rank's block
  [[nodiscard]] Span columns() const noexcept;  ///< of this rank's block, and its part of a vector

  /// The rows whose sums this rank has when those of its row of blocks are added up: all of its block's, or half of
  /// them where there are twice as many columns. Counted from the block's first.
  [[nodiscard]] Span kept() const noexcept { return kept_; }
  /// The other half, that the first partner keeps; empty if there is none.
  [[nodiscard]] Span given() const noexcept;
  /// With whom to add up, one after the other. The first one is given a half, where there is one to give.
  [[nodiscard]] const std::vector<int>& partners() const noexcept { return partners_; }
  /// Who keeps the rows that are this rank's part of a vector, and needs what this rank keeps.
  [[nodiscard]] int transposed() const noexcept;

 private:
  [[nodiscard]] Span part(int index) const noexcept { return block_of(n_, across_, index); }
  [[nodiscard]] bool halves() const noexcept { return across_ > down_; }

  int n_;
  int down_;    ///< rows of blocks
  int across_;  ///< columns of blocks
  int row_;
  int column_;
  Span kept_;
  std::vector<int> partners_;
};

}  // namespace workloads::npb
