// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a kernel's ranks: an MPI that changes one value of one message, once, on rank 1: the first number that
// another rank sends it where numbers (keys or reals) are many. It shows that a wrong result is seen.
#include <complex.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { fewest = 4 };

static void* awaited;
static MPI_Datatype awaited_type;
static int done;

static int is_rank_1(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 1;
}

static void spoil(void* value, MPI_Datatype type) {
  if (type == MPI_INT32_T) {
    *(int32_t*)value ^= 1;
  } else if (type == MPI_DOUBLE) {
    *(double*)value += 1;
  } else if (type == MPI_C_DOUBLE_COMPLEX) {
    *(double complex*)value += 1;
  }
  done = 1;
}

static void await(void* buffer, int count, MPI_Datatype type) {
  if (awaited == NULL && !done && count >= fewest && is_rank_1()) {
    awaited = buffer;
    awaited_type = type;
  }
}

static void arrived(void) {
  if (awaited != NULL) {
    spoil(awaited, awaited_type);
  }
  awaited = NULL;
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  await(buffer, count, type);
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Alltoallv(const void* sent, const int counts[], const int begins[], MPI_Datatype type, void* received,
                  const int received_counts[], const int received_begins[], MPI_Datatype received_type, MPI_Comm comm) {
  const int result =
      PMPI_Alltoallv(sent, counts, begins, type, received, received_counts, received_begins, received_type, comm);
  await(received, received_counts[0], received_type);  // from rank 0 the first
  arrived();
  return result;
}

int MPI_Ialltoallv(const void* sent, const int counts[], const int begins[], MPI_Datatype type, void* received,
                   const int received_counts[], const int received_begins[], MPI_Datatype received_type, MPI_Comm comm,
                   MPI_Request* request) {
  await(received, received_counts[0], received_type);
  return PMPI_Ialltoallv(sent, counts, begins, type, received, received_counts, received_begins, received_type, comm,
                         request);
}

int MPI_Alltoall(const void* sent, int count, MPI_Datatype type, void* received, int received_count,
                 MPI_Datatype received_type, MPI_Comm comm) {
  const int result = PMPI_Alltoall(sent, count, type, received, received_count, received_type, comm);
  await(received, received_count, received_type);
  arrived();
  return result;
}

int MPI_Ialltoall(const void* sent, int count, MPI_Datatype type, void* received, int received_count,
                  MPI_Datatype received_type, MPI_Comm comm, MPI_Request* request) {
  await(received, received_count, received_type);
  return PMPI_Ialltoall(sent, count, type, received, received_count, received_type, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const int result = PMPI_Wait(request, status);
  arrived();
  return result;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const int result = PMPI_Waitall(count, requests, statuses);
  arrived();
  return result;
}
