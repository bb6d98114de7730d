/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that computes beside a receive, and loads a library in the middle of it: `gpu [LIBRARY]`. Prints how often the
 * engine polled before, and afterwards. With -DSTAND_IN a library to preload below the engine: an MPI that takes CUDA's
 * memory. */
#include <mpi.h>

#ifdef STAND_IN
int MPIX_Query_cuda_support(void) { return 1; }
#else
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long polls(void) {
  const char* (*report)(void) = NULL;
  *(void**)&report = dlsym(RTLD_DEFAULT, "pe_report_json");
  const char* found = report ? strstr(report(), "\"polls\":") : NULL;
  return found ? atol(found + strlen("\"polls\":")) : 0;
}

static long polls_while_computing(double seconds) {
  const long before = polls();
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
  }
  return polls() - before;
}

int main(int argc, char** argv) {
  int here = 0, there = 42;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Irecv(&here, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  const long before = polls_while_computing(0.2);
  if (argc > 1 && !dlopen(argv[1], RTLD_NOW)) return 3;
  polls_while_computing(0.1); /* the poll that runs, and the one that sees it */
  const long after = polls_while_computing(0.2);
  MPI_Send(&there, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank 0: received %d, polled before %d, after %d\n", here, before > 0, after > 0);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
#endif
