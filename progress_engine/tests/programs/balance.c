/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded below the engine: what the engine makes through the profiling interface less what it frees. The end says it
 * on stdout: `balance: 1000 sessions, 1000 communicators; left: sessions 0 communicators 0 groups 0 infos 0 requests
 * 0`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { SESSIONS, COMMUNICATORS, GROUPS, INFOS, REQUESTS, KINDS };
static const char* const kinds[KINDS] = {"sessions", "communicators", "groups", "infos", "requests"};
static long made[KINDS], left[KINDS];

static int count(int code, int kind, int step) {
  if (code == MPI_SUCCESS) left[kind] += step;
  if (code == MPI_SUCCESS && step > 0) ++made[kind];
  return code;
}

#define COUNTED(kind, step, name, parameters, arguments)          \
  int name parameters {                                           \
    static int(*next) parameters;                                 \
    if (!next) next = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
    return count(next arguments, kind, step);                     \
  }

COUNTED(COMMUNICATORS, 1, PMPI_Comm_dup, (MPI_Comm comm, MPI_Comm* copy), (comm, copy))
COUNTED(COMMUNICATORS, -1, PMPI_Comm_free, (MPI_Comm * comm), (comm))
COUNTED(GROUPS, -1, PMPI_Group_free, (MPI_Group * group), (group))
COUNTED(INFOS, 1, PMPI_Info_create, (MPI_Info * info), (info))
COUNTED(INFOS, -1, PMPI_Info_free, (MPI_Info * info), (info))
COUNTED(REQUESTS, 1, PMPI_Irecv,
        (void* buffer, int size, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request),
        (buffer, size, type, from, tag, comm, request))
COUNTED(REQUESTS, -1, PMPI_Wait, (MPI_Request * request, MPI_Status* status), (request, status))
#if MPI_VERSION >= 4
COUNTED(SESSIONS, 1, PMPI_Session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session* session),
        (info, handler, session))
COUNTED(SESSIONS, -1, PMPI_Session_finalize, (MPI_Session * session), (session))
COUNTED(COMMUNICATORS, 1, PMPI_Comm_create_from_group,
        (MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm* comm),
        (group, tag, info, handler, comm))
COUNTED(GROUPS, 1, PMPI_Group_from_session_pset, (MPI_Session session, const char* name, MPI_Group* group),
        (session, name, group))
COUNTED(INFOS, 1, PMPI_Session_get_info, (MPI_Session session, MPI_Info* info), (session, info))
#endif

__attribute__((destructor)) static void say(void) {
  printf("balance: %ld sessions, %ld communicators; left:", made[SESSIONS], made[COMMUNICATORS]);
  for (int kind = 0; kind < KINDS; ++kind) printf(" %s %ld", kinds[kind], left[kind]);
  printf("\n");
  fflush(stdout);
}
