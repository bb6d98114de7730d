/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload below the engine, which takes away what it needs: REFUSER=level, the MPI's threads beyond
 * MPI_THREAD_SERIALIZED; REFUSER=begin, a beginning with them; REFUSER=threads, threads for the engine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int refuses(const char* what) {
  const char* refused = getenv("REFUSER");
  return refused && !strcmp(refused, what);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  if (refuses("begin") && required > MPI_THREAD_SERIALIZED) return MPI_ERR_OTHER;
  const int at_most = refuses("level") && required > MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED : required;
  return PMPI_Init_thread(argc, argv, at_most, provided);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  Dl_info caller;
  if (refuses("threads") && dladdr(__builtin_return_address(0), &caller) &&
      strstr(caller.dli_fname, "libprogress_engine"))
    return EAGAIN;
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, start, argument);
}
