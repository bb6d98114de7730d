// SPDX-License-Identifier: BSD-3-Clause
// What the two programs of this folder share: the problem as a point gives it, and its repetition.
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/experiment.h"
#include "common/halo.h"
#include "common/noncopyable.h"
#include "minife/calls.h"
#include "minife/exact.h"
#include "minife/matrix.h"
#include "minife/method.h"

namespace workloads::minife {

// The method of conjugate gradients on all ranks, and the product of the matrix and a vector that it needs.

// The product of the matrix and a vector of all ranks, by the ways in which the halo can travel.

using Vector = std::vector<double>;

/// Collective.
class Product : NonCopyable {
 public:
  virtual ~Product() = default;

  /// out = A in; the halo of `in` is received into its ghosts.
  virtual void multiply(Vector& in, Vector& out, Calls& calls) = 0;
};

struct Block {
  const Matrix& matrix;
  int rank;
  std::vector<HaloPart> neighbours;
  Box without_neighbours;  ///< rows that need nothing of them
};

/// As miniFE does it: MPI_Irecv, MPI_Send and MPI_Waitall, then all rows.
std::unique_ptr<Product> blocking_product(const Block& block);

/// MPI_Irecv and MPI_Isend, the rows that need no halo, MPI_Waitall, the others.
std::unique_ptr<Product> overlapped_product(const Block& block);

/// Solves A x = b on all ranks. All functions that are not const are collective.
class ConjugateGradient final : private SolveSteps {
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
  void multiply(Name in, Name out) override;
  void sum(std::span<const Names> pairs) override;
  void start_sums(std::span<const Names> pairs) override;
  void finish_sums() override;
  void update(Update what) override;

  void start();
  void advance();
  void turn();
  void pipeline();
  void replace();
  Vector& vector(Name name);
  void multiply_all(std::span<const Names> pairs);
  [[nodiscard]] bool is_small(double square) const noexcept;
  [[nodiscard]] double dot(const Vector& a, const Vector& b) const;
  /// q = b - q, where q is A x.
  void subtract_from_right_hand_side();

  const Matrix& matrix_;
  Product& product_;
  Reductions reductions_;
  Calls* calls_ = nullptr;        ///< of the solve that is under way
  std::array<double, 2> mine_{};  ///< scalar products on this rank
  std::array<double, 2> sums_{};  ///< and on all
  MPI_Request sums_request_ = MPI_REQUEST_NULL;
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

/// UsageError where the ranks cannot share the grid, or their memory does not hold it. Collective.
void check_problem(const Json& point, const Parameters& parameters, int ranks, Reductions reductions);

/// How a point is solved.
struct Way {
  std::function<std::unique_ptr<Product>(const Block&)> product;
  Reductions reductions;
  std::vector<Call> calls;  ///< those that it makes
  bool packets = false;     ///< of each call, and outside of calls
  std::string role = "rank";
  /// Runs the solve, in the thread that it is to run in; null: the caller's.
  std::function<void(const std::function<void()>&)> inside;
};

/// Assembles once; each repetition solves, and verifies the solution.
std::unique_ptr<Experiment> solver(const Preparation& preparation, const Parameters& parameters, Way way);

}  // namespace workloads::minife
