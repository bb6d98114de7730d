/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks pass a message around and end without MPI_Finalize, as osu_latency_mt does; with "forks" after a child of each
 * has ended so. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0, received = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &received, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("rank %d: received %d\n", rank, received);
  fflush(stdout);
  if (argc > 1) {
    const pid_t child = fork();
    if (child == 0) exit(0);
    waitpid(child, NULL, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
