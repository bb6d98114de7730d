// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "minife/exact.h"
#include "minife/product.h"

namespace workloads::minife {

/// How sums over all ranks are formed.
struct Reductions {
  bool pipelined = false;      ///< one MPI_Iallreduce an iteration, beside the product; else two MPI_Allreduce
  bool barrier_first = false;  ///< MPI_Barrier before each: who comes late is waited for there, not in the reduction
};

/// Solves A x = b on all ranks. All functions that are not const are collective.
class ConjugateGradient {
 public:
  ConjugateGradient(const Matrix& matrix, Product& product, Reductions reductions, int most_iterations);

  /// From zero (with the surface's values), until the residual is 1e-10 of the first one.
  void solve(Calls& calls);

  [[nodiscard]] int iterations() const noexcept { return iterations_; }
  [[nodiscard]] const Vector& solution() const noexcept { return x_; }

  /// What is wrong with the solution, the same on all ranks; empty if nothing. b - A x, computed anew, must be the
  /// residual that the iterations followed, and the solution near `exact`.
  std::string verify(const Triple& nodes, const Exact& exact);
  /// |b - A x| as verify() computed it anew, over the first residual.
  [[nodiscard]] double true_residual() const noexcept { return true_residual_; }

 private:
  void start();
  void solve_plain(Calls& calls);
  void solve_pipelined(Calls& calls);
  /// One iteration of the pipelined method; false when the residual is small enough.
  bool pipelined_step(Calls& calls);
  void replace_residuals(Calls& calls);
  [[nodiscard]] bool is_small(double square) const noexcept;
  double sum(double mine, Calls& calls) const;
  [[nodiscard]] double dot(const Vector& a, const Vector& b) const;
  /// out = b - A x
  void compute_residual(Vector& out, Calls& calls);

  const Matrix& matrix_;
  Product& product_;
  Reductions reductions_;
  int most_iterations_;
  int iterations_ = 0;
  double first_square_ = 0;  ///< of the residual's norm, of all ranks
  double gap_ = 0;           ///< squared differences between residuals followed and computed anew, of this rank
  double true_residual_ = 0;
  double alpha_ = 0;
  double gamma_ = 0;
  Vector x_;
  Vector r_;
  Vector p_;
  Vector q_;  ///< A p, or in the pipelined method A w
  Vector w_;  ///< A r
  Vector s_;  ///< A p
  Vector z_;  ///< A s
};

/// A row's share of the vectors above.
double vectors_of(Reductions reductions) noexcept;

}  // namespace workloads::minife
