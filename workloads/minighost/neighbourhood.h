// SPDX-License-Identifier: BSD-3-Clause
// Halos that travel by a nonblocking neighbourhood collective (MPI-3.1, section 7.7), on a Cartesian or graph topology.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/grid.h"
#include "common/noncopyable.h"
#include "common/parameters.h"

namespace workloads::minighost {

/// "exchange": messages, or one of the collectives.
Parameter exchange_parameter();
inline constexpr std::string_view by_messages = "messages";
/// "topology": graph or cartesian.
Parameter topology_parameter();

struct NeighbourCollective;

/// What a rank sends and receives stands in two arrays of blocks of `bytes`. Made and destroyed by all ranks together.
class Neighbourhood : NonCopyable {
 public:
  /// `exchange` and `topology`: values of the parameters; with messages there is neither a communicator nor start().
  Neighbourhood(std::string_view exchange, std::string_view topology, const std::vector<Face>& faces, int ranks,
                std::size_t bytes);
  ~Neighbourhood();

  /// Whether one block goes to all neighbours.
  [[nodiscard]] bool sends_the_same() const noexcept;
  /// Blocks of each array; a Cartesian topology has them for the neighbours beyond the boundary, too.
  [[nodiscard]] std::size_t blocks() const noexcept { return counts_.size(); }
  /// That of the face with this place in `faces`.
  [[nodiscard]] std::size_t block(std::size_t face) const noexcept { return places_[face]; }

  [[nodiscard]] bool is_collective() const noexcept { return kind_ != nullptr; }
  /// The caller completes the request.
  MPI_Request start(const void* out, void* in) const;

 private:
  friend struct NeighbourCollective;
  const NeighbourCollective* kind_;  ///< null: messages
  MPI_Comm topology_ = MPI_COMM_NULL;
  std::vector<std::size_t> places_;
  std::vector<int> counts_;  ///< of each block
  std::vector<int> begins_;
  std::vector<MPI_Aint> addresses_;  ///< the same, as MPI_Ineighbor_alltoallw has them
  std::vector<MPI_Datatype> types_;
};

}  // namespace workloads::minighost
