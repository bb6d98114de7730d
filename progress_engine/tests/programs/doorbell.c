/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 waits for a large message and computes, without a call of MPI's, until it sees it; rank 1 sends it a moment
 * later. In 20 seconds at most: without an engine it never comes. */
#include <mpi.h>
#include <stdio.h>

enum { LARGE = 1 << 21 };
static const double most = 20; /* seconds */
static const double moment = 0.1;

static int rank;
static volatile int message[LARGE];

/* `to` and `from` are the ranks of 0 and 1 in `comm`. */
static void exchange(const char* name, MPI_Comm comm, int to, int from) {
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    message[LARGE - 1] = 0;
    MPI_Irecv((void*)message, LARGE, MPI_INT, from, 1, comm, &request);
    const double end = MPI_Wtime() + most;
    while (message[LARGE - 1] != 17 && MPI_Wtime() < end) continue;
    printf("rank 0: %s %d\n", name, message[LARGE - 1] == 17);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (message[LARGE - 1] != 17) printf("rank 0: %s wrong\n", name);
    return;
  }
  message[LARGE - 1] = 17;
  for (const double end = MPI_Wtime() + moment; MPI_Wtime() < end;) continue;
  MPI_Isend((void*)message, LARGE, MPI_INT, to, 1, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Comm reversed;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  exchange("first", MPI_COMM_WORLD, 0, 1); /* connections are made, neighbours found */
  exchange("world", MPI_COMM_WORLD, 0, 1);
  exchange("reversed", reversed, 1, 0);
  fflush(stdout);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
