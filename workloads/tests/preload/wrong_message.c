// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a workload's ranks: an MPI that spoils the last byte of a message now and then. It shows that a wrong
// payload is seen. WRONG_MESSAGE_AFTER says how many large receives are left alone.
#include <mpi.h>
#include <stdlib.h>

enum { smallest_spoiled = 1000 };

static unsigned char* last_byte;

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  last_byte = count >= smallest_spoiled ? (unsigned char*)buffer + count - 1 : NULL;
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  static int received;
  const int result = PMPI_Wait(request, status);
  const char* after = getenv("WRONG_MESSAGE_AFTER");
  if (last_byte != NULL && ++received > (after == NULL ? 0 : atoi(after))) {
    *last_byte ^= 1;
  }
  last_byte = NULL;
  return result;
}
