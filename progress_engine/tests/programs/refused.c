/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose container refuses what the engine asks of the kernel: `refused shmget|eventfd|nothing
 * world|session`. Of both only what has the engine's flags or size. Then a message to itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include "../refuse_call.h"

enum { OURS = EFD_CLOEXEC | EFD_NONBLOCK, PAGE = 4096 };

static int exchange(MPI_Comm comm) {
  int value = 42, got = 0;
  MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  return got;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (strcmp(argv[1], "shmget") == 0 && !refuse_call(SYS_shmget, EPERM, PAGE, PAGE)) return 77;
  if (strcmp(argv[1], "eventfd") == 0 && !refuse_call(SYS_eventfd2, EPERM, OURS, OURS)) return 77;
  if (strcmp(argv[2], "world") == 0) {
    MPI_Init(&argc, &argv);
    printf("rank 0: received %d\n", exchange(MPI_COMM_SELF));
    return MPI_Finalize();
  }
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  MPI_Session session;
  MPI_Group self;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://SELF", &self);
  MPI_Comm_create_from_group(self, "refused", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&self);
  printf("rank 0: received %d\n", exchange(comm));
  MPI_Comm_free(&comm);
  return MPI_Session_finalize(&session);
#else
  return 78;
#endif
}
