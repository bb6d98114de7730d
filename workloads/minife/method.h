// SPDX-License-Identifier: BSD-3-Clause
// What a solve consists of, in the order of its calls: computations, halos and sums over all ranks. Who carries it out
// is somebody else: ranks with MPI, or a simulation of them. No MPI here.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "common/grid.h"
#include "common/noncopyable.h"

namespace workloads::minife {

/// How sums over all ranks are formed.
struct Reductions {
  bool pipelined = false;      ///< one MPI_Iallreduce an iteration, beside the product; else two MPI_Allreduce
  bool barrier_first = false;  ///< MPI_Barrier before each: who comes late is waited for there, not in the reduction
};

/// The iterations end when the residual is this part of the first one.
inline constexpr double relative_residual = 1e-10;

/// Rows of a rank: all, those that need no halo, the others.
enum class Rows : std::uint8_t { all, inner, outer };

/// Carries out what a product of the matrix and a vector consists of.
class ProductSteps : NonCopyable {
 public:
  virtual ~ProductSteps() = default;

  virtual void post_receives() = 0;
  virtual void pack() = 0;
  virtual void send() = 0;         ///< MPI_Send to one neighbour after the other
  virtual void start_sends() = 0;  ///< MPI_Isend to all
  virtual void wait() = 0;         ///< for all that was posted
  virtual void unpack() = 0;
  virtual void multiply_rows(Rows rows) = 0;
};

/// As miniFE does it: the halo, then all rows; or, `overlapped`, the halo beside the rows that do not need it.
void multiply_by(ProductSteps& steps, bool overlapped);

/// x, the residual r, the direction p; q: A p, or in the pipelined method A w; w: A r; s: A p; z: A s.
enum class Name : std::uint8_t { x, r, p, q, w, s, z };
using Names = std::pair<Name, Name>;

/// A computation on all rows of some vectors.
enum class Update : std::uint8_t {
  advance,   ///< x += alpha p, r -= alpha q
  turn,      ///< p = r + beta p
  pipeline,  ///< all six of the pipelined method
  replace,   ///< r = b - A x, where q is A x, and how far r was from it
};

/// Carries out what the method of conjugate gradients consists of.
class SolveSteps : NonCopyable {
 public:
  virtual ~SolveSteps() = default;

  /// out = A in, with the halo of `in`.
  virtual void multiply(Name in, Name out) = 0;
  /// The scalar products of these pairs, over all ranks: known at once, or from finish_sums() on.
  virtual void sum(std::span<const Names> pairs) = 0;
  virtual void start_sums(std::span<const Names> pairs) = 0;
  virtual void finish_sums() = 0;
  virtual void update(Update what) = 0;
};

/// A solve is begin(); then, until the iterations end, to_the_test() and behind_it(). The last of them end at the test:
/// the first sum of these steps' last is the square of the residual there.
class Method {
 public:
  explicit Method(bool pipelined) : pipelined_(pipelined) {}

  void begin(SolveSteps& steps) const;
  void to_the_test(SolveSteps& steps) const;
  void behind_it(SolveSteps& steps) const;
  /// Whether replace() follows, when so many iterations are done: what the pipelined method follows through its sums
  /// drifts away from the truth.
  [[nodiscard]] bool replaces(int iterations) const noexcept;
  static void replace(SolveSteps& steps);

 private:
  bool pipelined_;
};

// What is known of the matrix without assembling it: on a grid of equal elements it is a sum of products of matrices of
// the three axes, all of which have sines as their eigenvectors. No MPI here.

/// Of the rows inside, the eigenvalue whose eigenvector has so many half waves along each axis (1 to nodes - 2).
double eigenvalue(const Triple& nodes, const Triple& half_waves);

/// After how many iterations, `most` at most, a solve of the whole grid ends, whatever the ranks: the method carried
/// out for the sines' own parts of the residual, which takes a time like all ranks' vectors, without the matrix.
int iterations_needed(const Triple& nodes, int most);

}  // namespace workloads::minife
