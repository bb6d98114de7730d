/* SPDX-License-Identifier: BSD-3-Clause */
/* A binding that serves many MPIs: it asks which functions there are, by weak references and by dlsym, before MPI_Init
 * and after, and calls those that it finds. A program, or a plug-in of host.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

/* Large counts came with MPI 4; the second has never been in any MPI. */
#pragma weak MPI_Isend_c
int MPI_Isend_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
#pragma weak MPI_Isend_never
int MPI_Isend_never(void);

typedef int (*LargeSend)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void look(const char* when) {
  printf("rank: %s weak %d %d, dlsym %d %d\n", when, MPI_Isend_c != NULL, MPI_Isend_never != NULL,
         dlsym(RTLD_DEFAULT, "MPI_Isend_c") != NULL, dlsym(RTLD_DEFAULT, "PMPI_Isend_c") != NULL);
}

static void message(LargeSend large) {
  MPI_Request request = MPI_REQUEST_NULL;
  int value = 7;
  int received = 0;
  if (!large) {
    MPI_Isend(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
  } else if (large(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request) != MPI_SUCCESS) {
    printf("rank: the send fails\n");
    return;
  }
  MPI_Recv(&received, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank: received %d\n", received);
}

int run_hazard(int argc, char** argv) {
  look("before");
  const LargeSend found_before = (LargeSend)dlsym(RTLD_DEFAULT, "MPI_Isend_c");
  MPI_Init(&argc, &argv);
  look("after");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  message(MPI_Isend_c);
  message(found_before);
  message(found_before);
  MPI_Finalize();
  return 0;
}

int main(int argc, char** argv) { return run_hazard(argc, argv); }
