// SPDX-License-Identifier: BSD-3-Clause
// How large a message is, by its datatype.
#pragma once

#include <cstdint>

#include "mpi/message_size.hpp"
#include "mpi/mpi_header.hpp"

namespace progress_engine {

// MPI_Type_size has no number for 2 GiB and more. MPI_Type_size_x and not MPI_Type_size_c: an engine runs with each MPI
// of its ABI, and those from before MPI 4 have only that one.
inline std::int64_t bytes_of_type(std::int64_t count, MPI_Datatype type) {
  MPI_Count size = 0;
  PE_PMPI(MPI_Type_size_x)(type, &size);
  return bytes_of(count, size);
}

}  // namespace progress_engine
