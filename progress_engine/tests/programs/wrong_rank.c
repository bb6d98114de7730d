/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends to ranks that there are not, on a communicator whose error handler makes a success of them. */
#include <mpi.h>
#include <stdio.h>

static int handled;

static void count(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Errhandler counting;
  MPI_Comm_create_errhandler(count, &counting);
  MPI_Comm_set_errhandler(comm, counting);
  MPI_Request request = MPI_REQUEST_NULL;
  for (int wrong = size; wrong < size + 3; ++wrong) {
    MPI_Send(&value, 1, MPI_INT, wrong, 0, comm);
    MPI_Isend(&value, 1, MPI_INT, wrong, 0, comm, &request);
  }
  printf("rank %d: handled %d\n", rank, handled);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
