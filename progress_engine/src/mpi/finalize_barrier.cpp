// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/finalize_barrier.hpp"

#include "mpi/call.hpp"
#include "mpi/mpi_handles.hpp"
#include "mpi/mpi_header.hpp"
#include "platform/breakable.hpp"

namespace progress_engine {

// The only collective call that the engine ever makes in all ranks: the others of the MPI are under way to
// MPI_Finalize, which is collective as well.
void pass_finalize_barrier(Nanoseconds limit) {
  if (broken("finalize-barrier")) return;
  const MpiHandles handles;
  MPI_Request request = handles.request_null;
  int done = 0;
  if (PE_PMPI(MPI_Ibarrier)(handles.comm_world, &request) != MPI_SUCCESS) return;
  for (const Nanoseconds end = now() + limit; done == 0 && now() < end;)
    if (PE_PMPI(MPI_Test)(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
}

}  // namespace progress_engine
