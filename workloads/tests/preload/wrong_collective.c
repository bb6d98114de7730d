// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a workload's ranks: an MPI that spoils the last byte that MPI_Iallgather brings.
#include <mpi.h>
#include <stddef.h>

static unsigned char* last_byte;

int MPI_Iallgather(const void* sent, int count, MPI_Datatype sent_type, void* received, int block,
                   MPI_Datatype received_type, MPI_Comm comm, MPI_Request* request) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  last_byte = (unsigned char*)received + (size_t)block * (size_t)ranks - 1;
  return PMPI_Iallgather(sent, count, sent_type, received, block, received_type, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const int result = PMPI_Wait(request, status);
  if (last_byte != NULL) {
    *last_byte ^= 1;
  }
  last_byte = NULL;
  return result;
}
