/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests from C to Fortran and back, by the functions of that name, which the engine has even where the MPI has them
 * as macros alone. Prints one line a rank. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, value;
  MPI_Request live;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &live);
  MPI_Fint (*to_fortran)(MPI_Request) = (MPI_Fint (*)(MPI_Request))dlsym(RTLD_DEFAULT, "MPI_Request_c2f");
  MPI_Request (*to_c)(MPI_Fint) = (MPI_Request (*)(MPI_Fint))dlsym(RTLD_DEFAULT, "MPI_Request_f2c");
  const int same = to_c(to_fortran(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL && to_c(to_fortran(live)) == live;
  printf("rank %d: requests %s\n", rank, same ? "are the same again" : "are lost");
  MPI_Cancel(&live);
  MPI_Wait(&live, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
