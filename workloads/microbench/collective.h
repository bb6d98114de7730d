// SPDX-License-Identifier: BSD-3-Clause
// The nonblocking collectives, each with contents that show who sent what to whom.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/mpi_process.h"
#include "microbench/payload.h"

namespace workloads {

struct CollectiveKind;

/// All names, in the order of the paper: all-to-one, one-to-all, all-to-all. Rank 0 is the root.
const std::vector<std::string>& collective_names();

/// Whether it adds numbers of 8 bytes each.
bool is_reduction(std::string_view name);

/// One collective on MPI_COMM_WORLD with its memory. Collective.
class Collective {
 public:
  /// `name` is one of collective_names(). `bytes` is the message: of broadcasts and reductions the whole vector, of the
  /// others the block that a rank sends to another.
  Collective(std::string_view name, const MpiProcess& mpi, std::size_t bytes);

  /// Writes what this rank contributes, and clears what it receives.
  void fill(std::uint64_t seed);

  /// The caller completes the request.
  MPI_Request start();

  /// What is wrong with what this rank has received; empty if nothing.
  [[nodiscard]] std::string check(std::uint64_t seed) const;

 private:
  const CollectiveKind& kind_;
  int rank_;
  int ranks_;
  std::size_t bytes_;
  Payload sent_;
  Payload received_;
};

}  // namespace workloads
