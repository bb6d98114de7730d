// SPDX-License-Identifier: BSD-3-Clause
// MPICH before 4.2 over UCX hangs in MPI_Finalize when a rank makes progress after another has come there
// (pmodels/mpich#6596). Each rank closes its endpoints, for which its peer must answer, and then waits at a barrier of
// the launcher's, where it answers no more. Over TCP UCX 1.13 asks for that answer whenever something was sent. A rank
// whose question is answered before it asks itself leaves for that barrier: its peer then asks in vain. Bare programs
// hang so now and then, and the engine, which polls up to MPI_Finalize, makes it likely.
//
// So there the ranks first pass a barrier of their own, with progress. Behind it all messages have arrived, and no
// endpoint needs its peer: they are left open, and go with UCX's worker after the launcher's barrier.
#pragma once

#include "fabrics/fabrics.hpp"
#include "mpi/quirks.hpp"
#include "platform/platform.hpp"

namespace progress_engine {

// Returns when all ranks of MPI_COMM_WORLD are here, or after `limit`, since ranks without the engine do not come.
// Those that come to MPI_Finalize meanwhile get their answers.
void pass_finalize_barrier(Nanoseconds limit = seconds(10));

// The MPI's own end, `end`; `world`: of MPI_COMM_WORLD, to which all ranks come.
template <typename End>
int end_together(bool world, End end) {
  if (!quirks_of_this_mpi().ends_together) return end();
  if (world) pass_finalize_barrier();
  const EndpointsStayOpen open(find_symbol("PMPI_Init"));
  return end();
}

}  // namespace progress_engine
