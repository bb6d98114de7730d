/* SPDX-License-Identifier: BSD-3-Clause */
/* Fault tolerance as an extension of the MPI's (Open MPI's mpi-ext.h): agreements of two kinds, beside a message. */
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, in = -1, revoked = 1, sum = 0;
  MPI_Comm left;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < 20; ++round) {
    int flags[2] = {7 << rank, 3};
    MPI_Request requests[3];
    MPI_Irecv(&in, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
    MPIX_Comm_iagree(MPI_COMM_WORLD, &flags[0], &requests[1]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPIX_Comm_agree(MPI_COMM_WORLD, &flags[1]);
    sum += 10 * flags[0] + flags[1];
  }
  MPIX_Comm_shrink(MPI_COMM_WORLD, &left);
  MPIX_Comm_is_revoked(left, &revoked);
  MPI_Comm_size(left, &size);
  printf("rank %d: %d, %d left, revoked %d\n", rank, sum, size, revoked);
  fflush(stdout);
  MPI_Comm_free(&left);
  MPI_Finalize();
  return 0;
}
