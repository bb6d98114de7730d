/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload below the engine, which takes away what it needs: REFUSER=level, the MPI's threads beyond
 * MPI_THREAD_SERIALIZED; REFUSER=begin, a beginning with them, by MPI_Init or a session; REFUSER=world, by MPI_Init
 * alone; REFUSER=threads, threads for the engine. */
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
  if ((refuses("begin") || refuses("world")) && required > MPI_THREAD_SERIALIZED) return MPI_ERR_OTHER;
  const int at_most = refuses("level") && required > MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED : required;
  const int code = PMPI_Init_thread(argc, argv, at_most, provided);
  if (*provided > at_most) *provided = at_most; /* a session has raised it */
  return code;
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static int refuses_session(MPI_Info info) {
  char level[MPI_MAX_INFO_VAL] = "";
  int length = MPI_MAX_INFO_VAL;
  int found = 0;
  if (info == MPI_INFO_NULL || !refuses("begin")) return 0;
  PMPI_Info_get_string(info, "thread_level", &length, level, &found);
  return found && !strcmp(level, "MPI_THREAD_MULTIPLE");
}

#define OPENS_SESSION(name)                                                      \
  int name(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {        \
    static int (*next)(MPI_Info, MPI_Errhandler, MPI_Session*);                  \
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name);                         \
    return refuses_session(info) ? MPI_ERR_OTHER : next(info, handler, session); \
  }
OPENS_SESSION(MPI_Session_init)
OPENS_SESSION(PMPI_Session_init)
#endif

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  Dl_info caller;
  if (refuses("threads") && dladdr(__builtin_return_address(0), &caller) &&
      strstr(caller.dli_fname, "libprogress_engine"))
    return EAGAIN;
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, start, argument);
}
