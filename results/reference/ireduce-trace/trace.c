/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes when each MPI_Ireduce, wait and MPI_Barrier of a rank began and ended, at its end: TRACE.rank-R.txt. To be
 * preloaded: `mpicc -O1 -shared -fPIC -o trace.so trace.c`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 1 << 20 };
static struct {
  int call;
  double begin, end;
} calls[MOST];
static int number;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static int note(int call, double begin, int code) {
  if (number < MOST) {
    calls[number].call = call;
    calls[number].begin = begin;
    calls[number++].end = now();
  }
  return code;
}

int MPI_Ireduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  const double begin = now();
  return note(1, begin, PMPI_Ireduce(from, to, count, type, op, root, comm, request));
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const double begin = now();
  return note(2, begin, PMPI_Wait(request, status));
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const double begin = now();
  return note(2, begin, PMPI_Waitall(count, requests, statuses));
}

int MPI_Barrier(MPI_Comm comm) {
  const double begin = now();
  return note(4, begin, PMPI_Barrier(comm));
}

int MPI_Finalize(void) {
  int rank = 0;
  char name[4096];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "%s.rank-%d.txt", getenv("TRACE"), rank);
  FILE* file = fopen(name, "w");
  for (int i = 0; file && i < number; ++i) fprintf(file, "%d %.9f %.9f\n", calls[i].call, calls[i].begin, calls[i].end);
  if (file) fclose(file);
  return PMPI_Finalize();
}
