// SPDX-License-Identifier: BSD-3-Clause
// CG's matrix times a vector on all ranks, and the sums over a row of blocks: where CG communicates.
#pragma once

#include <mpi.h>

#include <array>
#include <span>
#include <vector>

#include "common/phases.h"
#include "npb/cg_grid.h"
#include "npb/cg_kernel.h"

namespace workloads::npb {

/// Collective. Used from one thread.
class CgProduct {
 public:
  /// Both are kept by the caller. With one piece messages are sent as the benchmark is published: receive posted,
  /// blocking send, wait. With more, each piece of the row sums is sent when it is computed, beside the next one's
  /// computation.
  CgProduct(const SparseBlock& matrix, const CgGrid& grid, int rank, int pieces);

  /// y = A x; this rank's parts of both.
  void multiply(std::span<const double> x, std::span<double> y, Phases& phases);
  /// Adds `values` up over the row of blocks: over each part of a vector once.
  void add_up(std::span<double> values, Phases& phases) const;

 private:
  struct Piece {
    Span kept;
    Span given;
    int first_tag;
    std::array<MPI_Request, 2> requests;
  };
  void compute(Span rows, std::span<const double> x);
  void compute_then_send(std::span<const double> x, Phases& phases);
  void compute_and_send(std::span<const double> x, Phases& phases);
  /// What the partner of this step is given of a piece.
  [[nodiscard]] static Span sent(const Piece& piece, std::size_t step) noexcept;
  void start_receive(Piece& piece, std::size_t step);
  void start_send(Piece& piece, std::size_t step);
  void finish(Piece& piece, std::size_t step, Phases& phases);
  void add_arrived(Span rows);
  void transpose(std::span<double> y, Phases& phases) const;

  const SparseBlock& matrix_;
  const CgGrid& grid_;
  int rank_;
  std::vector<Piece> pieces_;
  std::vector<double> sums_;      ///< of the block's rows
  std::vector<double> arriving_;  ///< others' sums of the rows that are kept, laid out as sums_
};

}  // namespace workloads::npb
