// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a workload's ranks: an MPI that speaks of a thousand ranks, more than any small problem can take.
#include <mpi.h>

int MPI_Comm_size(MPI_Comm comm, int* size) {
  (void)comm;
  *size = 1009;
  return MPI_SUCCESS;
}
