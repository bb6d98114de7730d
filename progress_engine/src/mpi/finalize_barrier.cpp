// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/finalize_barrier.hpp"

#include <atomic>

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

namespace {
constinit std::atomic<bool> endpoints_stay_open{false};
}

EndpointsStayOpen::EndpointsStayOpen() { endpoints_stay_open = true; }
EndpointsStayOpen::~EndpointsStayOpen() { endpoints_stay_open = false; }

}  // namespace progress_engine

using namespace progress_engine;

// UCX's own function, as MPICH calls it: null, UCS_OK, is an endpoint that is closed.
PE_INTERPOSED void* ucp_disconnect_nb(void* endpoint) {
  static constinit Next<void* (*)(void*)> next("ucp_disconnect_nb");
  return endpoints_stay_open.load() ? nullptr : next.get()(endpoint);
}
