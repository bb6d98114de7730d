// SPDX-License-Identifier: BSD-3-Clause
// NPB CG without its messages: the matrix, how it is cut, and what is done with it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/grid.h"

namespace workloads::npb {

// CG's matrix cut into blocks, a power of two in either direction: as many columns of blocks as rows, or twice as many.
// A vector is cut like the columns; each rank of a column of blocks has the same part.

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

// The CG kernel of the NAS Parallel Benchmarks (Bailey et al., RNR-94-007, section 2.5) without its messages: the
// random sparse matrix and what is done with it.

inline constexpr int cg_steps = 25;  ///< of the conjugate gradients in an iteration

/// A class: a matrix of order n, and its largest eigenvalue's estimate after some iterations of the inverse power
/// method.
struct CgClass {
  std::string_view name;
  int n;
  int nonzeros;  ///< of each vector whose outer product goes into the matrix
  int iterations;
  double shift;
  double zeta;
};

/// S to D with the verification values of NPB 3.4.
const std::array<CgClass, 6>& cg_classes() noexcept;

/// zeta within 1e-10 of the class's, relatively.
bool is_right(const CgClass& problem, double zeta) noexcept;

/// A block of a matrix by rows: row i has the values from begin[i] to begin[i + 1]; columns are counted from the
/// block's first.
struct SparseBlock {
  std::vector<std::size_t> begin;
  std::vector<int> column;
  std::vector<double> value;
};

/// The block of the class's matrix, its shift subtracted, in these rows and columns. Every block is made from the whole
/// sequence of random numbers.
SparseBlock cg_matrix(const CgClass& problem, Span rows, Span columns);

/// y = A x for `rows` of the block, y counted from the block's first row.
void multiply(const SparseBlock& matrix, Span rows, const double* x, double* y);

/// Vectors of one length.
double dot(std::span<const double> x, std::span<const double> y);
/// y += factor x.
void add(double factor, std::span<const double> x, std::span<double> y);
/// y = x + factor y.
void scale_and_add(double factor, std::span<const double> x, std::span<double> y);

}  // namespace workloads::npb
