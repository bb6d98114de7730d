/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool as the profiling interface means it: counts the sends and says so at the end; at an abort it says who is left.
 * To be preloaded, or linked in. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>

static int sends, rank;

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  ++sends;
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Finalize(void) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: tool: %d sends\n", rank, sends);
  fflush(stdout);
  return PMPI_Finalize();
}

/* The process's threads but for this one; an MPI may have some of its own, so compare with a run without the engine. */
int MPI_Abort(MPI_Comm comm, int code) {
  int threads = -3; /* ".", ".." and this one */
  DIR* tasks = opendir("/proc/self/task");
  while (tasks && readdir(tasks)) ++threads;
  if (tasks) closedir(tasks);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: tool: %d other threads at the abort\n", rank, threads);
  fflush(stdout);
  return PMPI_Abort(comm, code);
}
