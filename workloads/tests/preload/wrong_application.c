// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into an application's ranks: an MPI that loses what the last receive brings, and that adds up wrongly. It
// shows that a wrong result is seen.
#include <mpi.h>
#include <string.h>

enum { sums_of_ep = 12 };

static void* received;
static size_t received_bytes;

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  int size = 0;
  PMPI_Type_size(type, &size);
  received = buffer;
  received_bytes = (size_t)count * (size_t)size;
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const int result = PMPI_Waitall(count, requests, statuses);
  if (received != NULL) {
    memset(received, 0, received_bytes);
  }
  received = NULL;
  return result;
}

int MPI_Allreduce(const void* sent, void* sum, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  const int result = PMPI_Allreduce(sent, sum, count, type, operation, comm);
  if (count == sums_of_ep) {
    *(double*)sum *= 1.0001;
  }
  return result;
}
