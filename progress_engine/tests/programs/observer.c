/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload below the engine: counts the MPI's polls between a partitioned send's start and its first ready
 * partition, and since a request was freed, and how often the engine asks which rank one is; and is an MPI whose probes
 * set "cancelled". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>

static atomic_int started, between, since_freed;

/* Of this process. For observed.c, which finds them by dlsym. */
int observed_between(void) { return between; }
int observed_since_freed(void) { return since_freed; }

static atomic_int translations;
int observed_translations(void) { return translations; }

int PMPI_Group_translate_ranks(MPI_Group one, int many, const int ranks[], MPI_Group other, int found[]) {
  static int (*next)(MPI_Group, int, const int[], MPI_Group, int[]);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Group_translate_ranks");
  ++translations;
  return next(one, many, ranks, other, found);
}

static void polled(void) {
  ++since_freed;
  if (started) ++between;
}

/* By these the engine polls; its own calls are past the profiling interface. */
int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  static int (*next)(MPI_Request*, int*, MPI_Status*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Test");
  polled();
  return next(request, flag, status);
}

int PMPI_Testsome(int many, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  static int (*next)(int, MPI_Request[], int*, int[], MPI_Status[]);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Testsome");
  polled();
  return next(many, requests, done, indices, statuses);
}

int MPI_Start(MPI_Request* request) {
  const int code = PMPI_Start(request);
  started = 1;
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  const int code = PMPI_Request_free(request);
  since_freed = 0;
  return code;
}

static int leaves_cancelled(int code, int flag, MPI_Status* status) {
  if (code == MPI_SUCCESS && flag && status != MPI_STATUS_IGNORE) PMPI_Status_set_cancelled(status, 1);
  return code;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const int code = PMPI_Iprobe(source, tag, comm, flag, status);
  return leaves_cancelled(code, *flag, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  const int code = PMPI_Improbe(source, tag, comm, flag, message, status);
  return leaves_cancelled(code, *flag, status);
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
int MPI_Pready(int partition, MPI_Request request) {
  started = 0;
  return PMPI_Pready(partition, request);
}
#endif
