/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload below the engine: an MPI that calls itself what DESCRIPTION says, says on stderr that its
 * MPI_Testsome was called, and refuses windows at MPI_THREAD_MULTIPLE, as Open MPI 4 does over TCP. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int PMPI_Get_library_version(char* text, int* length) {
  strcpy(text, getenv("DESCRIPTION"));
  *length = (int)strlen(text);
  return MPI_SUCCESS;
}

int PMPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  static int (*next)(int, MPI_Request*, int*, int*, MPI_Status*);
  if (!next) {
    next = (int (*)(int, MPI_Request*, int*, int*, MPI_Status*))dlsym(RTLD_NEXT, "PMPI_Testsome");
    fprintf(stderr, "PMPI_Testsome is called\n");
  }
  return next(count, requests, done, indices, statuses);
}

int MPI_Win_create(void* memory, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  int level = MPI_THREAD_SINGLE;
  int (*query)(int*) = (int (*)(int*))dlsym(RTLD_NEXT, "PMPI_Query_thread"); /* not the engine's */
  query(&level);
  if (level < MPI_THREAD_MULTIPLE) return PMPI_Win_create(memory, bytes, unit, info, comm, window);
  PMPI_Comm_call_errhandler(comm, MPI_ERR_WIN);
  return MPI_ERR_WIN;
}
