/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank with many call sites (by their callers), many messages pending at once, and many calls. Prints how many:
 *   rank 0: SITES PENDING CALLS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { levels = 13, pending = 1 << 17 };

static volatile long sent;

/* Each path through the two calls is another stack. */
static __attribute__((noinline)) void walk(int level) {
  if (level == 0) {
    MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    ++sent;
    return;
  }
  walk(level - 1);
  ++sent;
  walk(level - 1);
  --sent;
}

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 100000;
  MPI_Init(&argc, &argv);
  MPI_Request* requests = malloc(2 * pending * sizeof *requests);
  for (int i = 0; i < pending; ++i) MPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < pending; ++i) MPI_Isend(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[pending + i]);
  MPI_Waitall(2 * pending, requests, MPI_STATUSES_IGNORE);
  for (long i = 0; i < calls; ++i) MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  walk(levels);
  printf("rank 0: %ld %d %ld\n", 1L << levels, pending, calls);
  MPI_Finalize();
  free(requests);
  return 0;
}
