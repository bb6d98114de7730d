/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 waits for a large message and computes; rank 1 sends it a moment later and waits. Rank 1 prints, a
 * communicator a line, how long it waited as a share of rank 0's computation: next to nothing if its sending woke rank
 * 0's engine. */
#include <mpi.h>
#include <stdio.h>

enum { LARGE = 1 << 21 };
static const double computation = 0.6; /* seconds */
static const double moment = 0.1;

static int rank;
static int message[LARGE];

static void compute(double seconds) {
  for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
  }
}

/* `to` and `from` are the ranks of 0 and 1 in `comm`. */
static void exchange(const char* name, MPI_Comm comm, int to, int from) {
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Irecv(message, LARGE, MPI_INT, from, 1, comm, &request);
    compute(computation);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (message[LARGE - 1] != 17) printf("rank 0: %s wrong\n", name);
    return;
  }
  message[LARGE - 1] = 17;
  compute(moment);
  const double start = MPI_Wtime();
  MPI_Isend(message, LARGE, MPI_INT, to, 1, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank 1: %s %.3f\n", name, (MPI_Wtime() - start) / computation);
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
