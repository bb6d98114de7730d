// SPDX-License-Identifier: BSD-3-Clause
// What the profiler asks the MPI of a call's arguments: how long a message is, and with whom.
#pragma once

#include <cstdint>

#include "mpi/mpi_header.hpp"
#include "profile/message_log.hpp"

namespace progress_engine::profile {

template <typename Handle>
std::uint64_t bits(Handle handle) {
  return (std::uint64_t)handle;  // a pointer or an integer
}

// Only of arguments that the MPI has accepted.
inline std::uint64_t bytes_of(long count, MPI_Datatype type) {
  int size = 0;
  if (count <= 0 || PE_PMPI(MPI_Type_size)(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

// With each rank of a communicator; between two groups, of the other one.
inline std::uint64_t bytes_of(long count, MPI_Datatype type, MPI_Comm communicator) {
  int between = 0;
  int size = 0;
  PE_PMPI(MPI_Comm_test_inter)(communicator, &between);
  between ? PE_PMPI(MPI_Comm_remote_size)(communicator, &size) : PE_PMPI(MPI_Comm_size)(communicator, &size);
  return bytes_of(count, type) * static_cast<std::uint64_t>(size);
}

// The messages of a rank of a communicator with a tag.
Stream sent(MPI_Comm communicator, int rank, int tag);
Stream received(MPI_Comm communicator, int rank, int tag);
// The collective operations of a communicator; `function` as in CallSite.
Stream collective(MPI_Comm communicator, std::uint16_t function);
// The group of all processes, by whose ranks they are named: until another one or forget_world, which free it.
void keep_world(MPI_Group group);
void forget_world();
// A communicator is gone, and its handle may come again.
void forget_communicator(MPI_Comm communicator);

}  // namespace progress_engine::profile
