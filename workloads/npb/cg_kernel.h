// SPDX-License-Identifier: BSD-3-Clause
// The CG kernel of the NAS Parallel Benchmarks (Bailey et al., RNR-94-007, section 2.5) without its messages: the
// random sparse matrix and what is done with it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "grid/decomposition.h"

namespace workloads::npb {

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
