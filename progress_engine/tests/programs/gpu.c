/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that computes beside a receive, and loads a library in the middle of it: `gpu [LIBRARY]`. Prints how often the
 * engine polled before, and afterwards. With -DSTAND_IN a library to preload below the engine: an MPI that takes CUDA's
 * memory, and loads the library $GPU_COMES in the middle of a program's receives; with -DFUNNELED, too, one that lets
 * no more than one thread call. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

#ifdef STAND_IN
int MPIX_Query_cuda_support(void) { return 1; }

const void* last_sent; /* where the MPI was told that a message lies */

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
  last_sent = buffer;
  return PMPI_Isend(buffer, count, type, dest, tag, comm, request);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  static int received = 0; /* under `offload`, where one thread at a time calls */
  const char* library = getenv("GPU_COMES");
  if (library && ++received == 300 && !dlopen(library, RTLD_NOW)) abort();
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

#ifdef FUNNELED
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  (void)required;
  return PMPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, provided);
}
#endif
#else
#include <stdio.h>
#include <string.h>
#include <time.h>

static long number(const char* report, const char* key) {
  const char* found = strstr(report, key);
  return found ? atol(found + strlen(key)) : 0;
}

/* Under `offload` they are called passes. */
static long polls(void) {
  const char* (*report)(void) = NULL;
  *(void**)&report = dlsym(RTLD_DEFAULT, "pe_report_json");
  return report ? number(report(), "\"polls\":") + number(report(), "\"passes\":") : 0;
}

/* Of this thread: on a busy machine others get as little. */
static double cpu_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static long polls_while_computing(double seconds) {
  const long before = polls();
  for (const double end = cpu_time() + seconds; cpu_time() < end;) {
  }
  return polls() - before;
}

/* A function of the stand-in for CUDA's library; null without it. */
static void* of_cuda(const char* name) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return library ? dlsym(library, name) : NULL;
}

/* With $OWN_CONTEXT this thread has one that is not its device's primary one. */
static int own_context;

static void take_own_context(void) {
  int (*take)(void*) = NULL;
  *(void**)&take = of_cuda("cuCtxSetCurrent");
  if (take && getenv("OWN_CONTEXT")) take(&own_context);
}

static int has_own_context(void) {
  void* current = NULL;
  int (*ask)(void**) = NULL;
  *(void**)&ask = of_cuda("cuCtxGetCurrent");
  if (ask) ask(&current);
  return current == &own_context;
}

int main(int argc, char** argv) {
  int here = 0, there = 42;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  take_own_context();
  /* What the engine has seen messages on, it may handle in another way from then on. */
  MPI_Irecv(&here, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  MPI_Send(&there, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  here = 0;
  MPI_Irecv(&here, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  const long before = polls_while_computing(0.2);
  if (argc > 1 && !dlopen(argv[1], RTLD_NOW)) return 3;
  polls_while_computing(0.1); /* the poll that runs, and the one that sees it */
  const long after = polls_while_computing(0.2);
  MPI_Send(&there, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank 0: received %d, polled before %d, after %d\n", here, before > 0, after > 0);
  const void** last_sent = dlsym(RTLD_DEFAULT, "last_sent");
  if (last_sent) printf("rank 0: sent a copy %d\n", *last_sent != &there);
  if (getenv("OWN_CONTEXT")) printf("rank 0: kept its own context %d\n", has_own_context());
  int (*taken)(void) = NULL;
  *(void**)&taken = of_cuda("contexts_taken");
  if (taken) printf("rank 0: a thread took a context %d\n", taken() > 0);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
#endif
