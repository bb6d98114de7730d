// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a workload's ranks: the root says at MPI_Finalize how often it began MPI_Ibcast.
#include <mpi.h>
#include <stdio.h>

static int begun;

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  ++begun;
  return PMPI_Ibcast(buffer, count, type, root, comm, request);
}

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    fprintf(stderr, "%d broadcasts\n", begun);
  }
  return PMPI_Finalize();
}
