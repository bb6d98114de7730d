// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a workload's ranks: an MPI whose nonblocking messages end the program. It shows that none was used.
#include <mpi.h>
#include <stdlib.h>

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
              MPI_Request* request) {
  abort();
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  abort();
}
