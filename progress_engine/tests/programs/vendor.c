/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for the others and says so. With -DVENDOR the MPI of a vendor, to preload below the engine: under a name that
 * no table knows, and with a blocking call that makes others by their public names, as the input and output of some
 * MPIs does. */
#define _GNU_SOURCE
#include <mpi.h>

#ifdef VENDOR
#include <dlfcn.h>
#include <stddef.h>

int PMPI_Init(int* argc, char*** argv) {
  int (*next)(int*, char***) = NULL;
  *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Init");
  return next(argc, argv);
}

int MPI_Barrier(MPI_Comm comm) {
  int out = 7, in = 0;
  MPI_Request requests[2];
  MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return in == out ? PMPI_Barrier(comm) : MPI_ERR_OTHER;
}
#else
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: the barrier gave %d\n", rank, MPI_Barrier(MPI_COMM_WORLD));
  fflush(stdout);
  return MPI_Finalize();
}
#endif
