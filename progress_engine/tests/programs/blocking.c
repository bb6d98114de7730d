/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 computes, without a call of MPI's, with something pending or a window open; rank 1 calls what returns only
 * when rank 0's process has answered: its engine, or the program when it calls MPI again. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LARGE = 1 << 20, TIMES = 10 };
static const double computation = 0.1; /* seconds */

static int rank;
static char mine[LARGE], others[LARGE];
static MPI_Win window = MPI_WIN_NULL;

static void blocking(const char* call) {
  const MPI_Comm all = MPI_COMM_WORLD;
  if (strcmp(call, "send") == 0) MPI_Send(mine, LARGE, MPI_CHAR, 0, 1, all);
  if (strcmp(call, "ssend") == 0) MPI_Ssend(mine, LARGE, MPI_CHAR, 0, 1, all);
  if (strcmp(call, "rsend") == 0) MPI_Rsend(mine, LARGE, MPI_CHAR, 0, 1, all);
  if (strcmp(call, "recv") == 0) MPI_Recv(others, LARGE, MPI_CHAR, 0, 1, all, MPI_STATUS_IGNORE);
  if (strcmp(call, "sendrecv") == 0)
    MPI_Sendrecv(mine, LARGE, MPI_CHAR, 0, 1, others, LARGE, MPI_CHAR, 0, 1, all, MPI_STATUS_IGNORE);
  if (strcmp(call, "replace") == 0) MPI_Sendrecv_replace(mine, LARGE, MPI_CHAR, 0, 1, 0, 1, all, MPI_STATUS_IGNORE);
  if (window == MPI_WIN_NULL) return;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  if (strcmp(call, "put") == 0) MPI_Put(mine, LARGE, MPI_CHAR, 0, 0, LARGE, MPI_CHAR, window);
  if (strcmp(call, "get") == 0) MPI_Get(others, LARGE, MPI_CHAR, 0, 0, LARGE, MPI_CHAR, window);
  MPI_Win_flush(0, window);
  MPI_Win_unlock(0, window);
}

static void compute_beside(const char* call) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  const int exchanges = strcmp(call, "sendrecv") == 0 || strcmp(call, "replace") == 0;
  const int sends = exchanges || strcmp(call, "recv") == 0;
  const int receives = exchanges || (!sends && window == MPI_WIN_NULL);
  if (receives) MPI_Irecv(others, LARGE, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[0]);
  if (sends) MPI_Isend(mine, LARGE, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (const double end = MPI_Wtime() + computation; MPI_Wtime() < end;) continue;
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* call = argv[1];
  if (strcmp(call, "put") == 0 || strcmp(call, "get") == 0)
    MPI_Win_create(others, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (strcmp(call, "lock") == 0) {
    void* memory = NULL;
    MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  }
  for (int i = 0; i < TIMES; ++i) {
    if (rank == 0)
      compute_beside(call);
    else {
      MPI_Barrier(MPI_COMM_WORLD);
      blocking(call);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("rank %d: done\n", rank);
  fflush(stdout);
  if (window != MPI_WIN_NULL) MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
