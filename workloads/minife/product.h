// SPDX-License-Identifier: BSD-3-Clause
// The product of the matrix and a vector of all ranks, by the ways in which the halo can travel.
#pragma once

#include <memory>
#include <vector>

#include "grid/halo.h"
#include "minife/calls.h"
#include "minife/matrix.h"

namespace workloads::minife {

using Vector = std::vector<double>;

/// Collective.
class Product {
 public:
  Product() = default;
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  Product(Product&&) = delete;
  Product& operator=(Product&&) = delete;
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

}  // namespace workloads::minife
