// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <type_traits>

#include "mpi/mpi_handles.hpp"
#include "profile/write.hpp"

namespace progress_engine::profile {
namespace {

constexpr int round_trips = 20;
constexpr int bytes = sizeof(Nanoseconds);

void pong(MPI_Comm nodes, MPI_Datatype byte, int other) {
  Nanoseconds time = 0;
  for (int i = 0; i < round_trips; ++i) {
    PE_PMPI(MPI_Recv)(&time, bytes, byte, other, 0, nodes, MPI_STATUS_IGNORE);
    time = now();
    PE_PMPI(MPI_Send)(&time, bytes, byte, other, 0, nodes);
  }
}

ClockReading ping(MPI_Comm nodes, MPI_Datatype byte) {
  ClockReading best{.error = std::numeric_limits<Nanoseconds>::max()};
  for (int i = 0; i < round_trips; ++i) {
    Nanoseconds theirs = 0;
    const auto begin = now();
    PE_PMPI(MPI_Send)(&theirs, bytes, byte, 0, 0, nodes);
    PE_PMPI(MPI_Recv)(&theirs, bytes, byte, 0, 0, nodes, MPI_STATUS_IGNORE);
    const auto half = (now() - begin) / 2;
    if (half < best.error) best = {.at = begin + half, .offset = theirs - begin - half, .error = half};
  }
  return best;
}

}  // namespace

ClockReading compare_clocks() {
  static_assert(std::is_trivially_copyable_v<ClockReading>);
  const MpiHandles handles;
  MPI_Comm node = handles.comm_null;
  MPI_Comm nodes = handles.comm_null;  // the first process of each; of world rank 0 it is the first one
  int rank = 0;
  int rank_on_node = 0;
  PE_PMPI(MPI_Comm_rank)(handles.comm_world, &rank);
  PE_PMPI(MPI_Comm_split_type)(handles.comm_world, MPI_COMM_TYPE_SHARED, rank, handles.info_null, &node);
  PE_PMPI(MPI_Comm_rank)(node, &rank_on_node);
  PE_PMPI(MPI_Comm_split)(handles.comm_world, rank_on_node == 0 ? 0 : MPI_UNDEFINED, rank, &nodes);
  ClockReading reading{.at = now()};
  if (nodes != handles.comm_null) {
    int first = 0;
    int count = 0;
    PE_PMPI(MPI_Comm_rank)(nodes, &first);
    PE_PMPI(MPI_Comm_size)(nodes, &count);
    if (first != 0) reading = ping(nodes, handles.byte);
    for (int other = 1; first == 0 && other < count; ++other) pong(nodes, handles.byte, other);
    PE_PMPI(MPI_Comm_free)(&nodes);
  }
  PE_PMPI(MPI_Bcast)(&reading, sizeof reading, handles.byte, 0, node);
  PE_PMPI(MPI_Comm_free)(&node);
  return reading;
}

}  // namespace progress_engine::profile
