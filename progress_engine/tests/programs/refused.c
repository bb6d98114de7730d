/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose container refuses what the engine asks of the kernel: `refused memfd_create|eventfd|nothing
 * world|session`. Of eventfd only what has the engine's flags. Then a message to itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int refuse(int number, unsigned flags) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, flags, 0, flags ? 1 : 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int exchange(MPI_Comm comm) {
  int value = 42, got = 0;
  MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  return got;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (strcmp(argv[1], "memfd_create") == 0 && !refuse(SYS_memfd_create, 0)) return 77;
  if (strcmp(argv[1], "eventfd") == 0 && !refuse(SYS_eventfd2, EFD_CLOEXEC | EFD_NONBLOCK)) return 77;
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
