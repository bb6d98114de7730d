/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests from C to Fortran and back, by the functions of that name, which the engine has even where the MPI has them
 * as macros alone; and by those of the standard's ABI, of an MPI that has them. Prints one line a rank. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

/* Whether each comes back, by the functions of these names; also where the MPI has none. */
static int come_back(MPI_Request live, const char* there, const char* back) {
  int (*to_fortran)(MPI_Request) = (int (*)(MPI_Request))dlsym(RTLD_DEFAULT, there);
  MPI_Request (*to_c)(int) = (MPI_Request (*)(int))dlsym(RTLD_DEFAULT, back);
  if (!to_fortran || !to_c) return !to_fortran && !to_c;
  return to_c(to_fortran(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL && to_c(to_fortran(live)) == live;
}

int main(int argc, char** argv) {
  int rank, value;
  MPI_Request live;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &live);
#ifdef MPI_ABI_VERSION
  const int same = dlsym(RTLD_DEFAULT, "MPI_Request_toint") != NULL &&
#else
  const int same = dlsym(RTLD_DEFAULT, "MPI_Request_c2f") != NULL &&
                   come_back(live, "MPI_Request_c2f", "MPI_Request_f2c") &&
#endif
                   come_back(live, "MPI_Request_toint", "MPI_Request_fromint");
  printf("rank %d: requests %s\n", rank, same ? "are the same again" : "are lost");
  MPI_Cancel(&live);
  MPI_Wait(&live, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
