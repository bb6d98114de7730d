/* SPDX-License-Identifier: BSD-3-Clause */
/* A binding that serves many MPIs: it asks which functions there are, by weak references and by dlsym, and calls those
 * that it finds. A plug-in of host.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

/* Large counts came with MPI 4; the second has never been in any MPI. */
#pragma weak MPI_Isend_c
int MPI_Isend_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
#pragma weak MPI_Isend_never
int MPI_Isend_never(void);

int run_hazard(int argc, char** argv) {
  MPI_Request request = MPI_REQUEST_NULL;
  int value = 7;
  int received = 0;
  MPI_Init(&argc, &argv);
  printf("rank: weak %d %d, dlsym %d %d\n", MPI_Isend_c != NULL, MPI_Isend_never != NULL,
         dlsym(RTLD_DEFAULT, "MPI_Isend_c") != NULL, dlsym(RTLD_DEFAULT, "PMPI_Isend_c") != NULL);
  if (MPI_Isend_c)
    MPI_Isend_c(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
  else
    MPI_Isend(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
  MPI_Recv(&received, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank: received %d\n", received);
  MPI_Finalize();
  return 0;
}
