/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize is called at exit, by a handler that was registered before MPI_Init, and after a last exchange there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void exchange(const char* when) {
  int received = -1;
  MPI_Request requests[2];
  MPI_Irecv(&received, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  printf("rank %d: %s %d\n", rank, when, received);
}

static void finalize(void) {
  exchange("at exit");
  MPI_Finalize();
  printf("rank %d: ended\n", rank);
  fflush(stdout);
}

int main(int argc, char** argv) {
  atexit(finalize);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  exchange("before");
  return 0;
}
