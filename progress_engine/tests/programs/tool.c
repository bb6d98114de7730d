/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool as the profiling interface means it: counts the sends and says so at the end; at an abort it says who is left,
 * and how often others test requests beside it.
 * To be preloaded, or linked in. Its MPI_Pcontrol takes what region profilers take: a name; and numbers of both kinds,
 * as many as registers hold. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "threads.h"

static int sends, rank;
static atomic_int tests;

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  ++sends;
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

/* The one by which a communication thread above this tool looks whether its only request has completed. */
int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  static int (*next)(MPI_Request*, int*, MPI_Status*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Test");
  ++tests;
  return next(request, flag, status);
}

int MPI_Finalize(void) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: tool: %d sends\n", rank, sends);
  fflush(stdout);
  return PMPI_Finalize();
}

int MPI_Pcontrol(const int level, ...) {
  va_list rest;
  va_start(rest, level);
  printf("rank %d: tool: level %d, region %s", rank, level, va_arg(rest, const char*));
  for (int i = 0; i < 4; ++i) printf(", %d", va_arg(rest, int));
  for (int i = 0; i < 8; ++i) printf(", %g", va_arg(rest, double));
  puts("");
  va_end(rest);
  return MPI_SUCCESS;
}

/* The process's threads but for this one; an MPI may have some of its own, so compare with a run without the engine. */
int MPI_Abort(MPI_Comm comm, int code) {
  const int threads = living_threads(NULL) - 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int before = tests;
  usleep(100000);
  printf("rank %d: tool: %d other threads at the abort, %d tests beside it\n", rank, threads, tests - before);
  fflush(stdout);
  return PMPI_Abort(comm, code);
}
