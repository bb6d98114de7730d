// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a workload's ranks: an MPI that speaks of a thousand ranks, more than any small problem can take, or
// of as many as MANY_RANKS says.
#include <mpi.h>
#include <stdlib.h>

int MPI_Comm_size(MPI_Comm comm, int* size) {
  (void)comm;
  const char* many = getenv("MANY_RANKS");
  *size = many == NULL ? 1009 : (int)strtol(many, NULL, 10);
  return MPI_SUCCESS;
}
