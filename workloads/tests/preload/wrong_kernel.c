// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into the ranks of a kernel or of miniGhost: an MPI that changes one value of one message, once, on rank 1:
// a number inside the largest message of several that were started before a wait, the last of those that are as large,
// where numbers (keys or reals) are many. It shows that a wrong result is seen. (Inside, the largest and the last: of
// its first residual MG needs neither edges, nor corners, nor the ghosts below.) With WRONG_CALL=recv only what
// MPI_Recv brings is changed.
#include <complex.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { fewest = 4 };

static void* awaited;
static int awaited_count;
static MPI_Datatype awaited_type;
static const MPI_Request* awaited_request;
static int done;

static int is_rank_1(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 1;
}

static void spoil(void* values, int count, MPI_Datatype type) {
  const int place = (count / 3) + (count / 97);  // not where a row begins: a grid's boundary is known to its rank
  if (type == MPI_INT32_T) {
    ((int32_t*)values)[place] ^= 1;
  } else if (type == MPI_DOUBLE) {
    ((double*)values)[place] += 1;
  } else if (type == MPI_C_DOUBLE_COMPLEX) {
    ((double complex*)values)[place] += 1;
  }
  done = 1;
}

static int is_many(int count) { return !done && count >= fewest && is_rank_1(); }

static int is_spoiled(int count) { return is_many(count) && getenv("WRONG_CALL") == NULL; }

static void await(void* buffer, int count, MPI_Datatype type, const MPI_Request* request) {
  if (is_spoiled(count) && (awaited == NULL || count >= awaited_count)) {
    awaited = buffer;
    awaited_count = count;
    awaited_type = type;
    awaited_request = request;
  }
}

static void arrived(const MPI_Request requests[], int count) {
  if (awaited != NULL && awaited_request >= requests && awaited_request < requests + count) {
    spoil(awaited, awaited_count, awaited_type);
    awaited = NULL;
  }
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  await(buffer, count, type, request);
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const int result = PMPI_Recv(buffer, count, type, source, tag, comm, status);
  if (is_many(count)) {
    spoil(buffer, count, type);
  }
  return result;
}

int MPI_Sendrecv(const void* sent, int count, MPI_Datatype type, int target, int tag, void* received,
                 int received_count, MPI_Datatype received_type, int source, int received_tag, MPI_Comm comm,
                 MPI_Status* status) {
  const int result = PMPI_Sendrecv(sent, count, type, target, tag, received, received_count, received_type, source,
                                   received_tag, comm, status);
  if (source != MPI_PROC_NULL && is_spoiled(received_count)) {
    spoil(received, received_count, received_type);
  }
  return result;
}

int MPI_Alltoallv(const void* sent, const int counts[], const int begins[], MPI_Datatype type, void* received,
                  const int received_counts[], const int received_begins[], MPI_Datatype received_type, MPI_Comm comm) {
  const int result =
      PMPI_Alltoallv(sent, counts, begins, type, received, received_counts, received_begins, received_type, comm);
  if (is_spoiled(received_counts[0])) {
    spoil(received, received_counts[0], received_type);  // what rank 0 sent stands first
  }
  return result;
}

int MPI_Ialltoallv(const void* sent, const int counts[], const int begins[], MPI_Datatype type, void* received,
                   const int received_counts[], const int received_begins[], MPI_Datatype received_type, MPI_Comm comm,
                   MPI_Request* request) {
  await(received, received_counts[0], received_type, request);
  return PMPI_Ialltoallv(sent, counts, begins, type, received, received_counts, received_begins, received_type, comm,
                         request);
}

int MPI_Alltoall(const void* sent, int count, MPI_Datatype type, void* received, int received_count,
                 MPI_Datatype received_type, MPI_Comm comm) {
  const int result = PMPI_Alltoall(sent, count, type, received, received_count, received_type, comm);
  if (is_spoiled(received_count)) {
    spoil(received, received_count, received_type);
  }
  return result;
}

int MPI_Ialltoall(const void* sent, int count, MPI_Datatype type, void* received, int received_count,
                  MPI_Datatype received_type, MPI_Comm comm, MPI_Request* request) {
  await(received, received_count, received_type, request);
  return PMPI_Ialltoall(sent, count, type, received, received_count, received_type, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const int result = PMPI_Wait(request, status);
  arrived(request, 1);
  return result;
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const int result = PMPI_Waitany(count, requests, index, status);
  if (*index != MPI_UNDEFINED) {
    arrived(requests + *index, 1);
  }
  return result;
}

int MPI_Testall(int count, MPI_Request requests[], int* done_all, MPI_Status statuses[]) {
  const int result = PMPI_Testall(count, requests, done_all, statuses);
  if (*done_all != 0) {
    arrived(requests, count);
  }
  return result;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const int result = PMPI_Waitall(count, requests, statuses);
  arrived(requests, count);
  return result;
}
