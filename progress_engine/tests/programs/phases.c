/* SPDX-License-Identifier: BSD-3-Clause */
/* Two phases of a program exchange halos by the same function. `phases world|session`: how MPI begins. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { rounds = 5 };

static int halo_line;

static __attribute__((noinline)) void halo(MPI_Comm comm, int other) {
  MPI_Request requests[2];
  double in, out = other;
  MPI_Irecv(&in, 1, MPI_DOUBLE, other, 0, comm, &requests[0]), halo_line = __LINE__;
  MPI_Isend(&out, 1, MPI_DOUBLE, other, 0, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static __attribute__((noinline)) int solve(MPI_Comm comm, int other) {
  int line = 0;
  MPI_Pcontrol(1, "solver");
  MPI_Pcontrol(7, "inside");
  for (int round = 0; round < rounds; ++round) halo(comm, other), line = __LINE__;
  MPI_Pcontrol(0);
  MPI_Pcontrol(-1, "solver");
  return line;
}

static __attribute__((noinline)) int assemble(MPI_Comm comm, int other) {
  int line = 0;
  MPI_Pcontrol(1, "assembly");
  MPI_Pcontrol(0);
  for (int round = 0; round < rounds; ++round) halo(comm, other), line = __LINE__;
  MPI_Pcontrol(-1, "assembly");
  return line;
}

static void work(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  const int solving = solve(comm, 1 - rank), assembling = assemble(comm, 1 - rank);
  if (rank == 0) printf("rank halo %d\nrank solve %d\nrank assemble %d\n", halo_line, solving, assembling);
}

static void in_world(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  work(MPI_COMM_WORLD);
  MPI_Finalize();
}

static void in_session(void) {
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "phases", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  work(comm);
  MPI_Comm_disconnect(&comm);
  MPI_Session_finalize(&session);
#else
  MPI_Init(NULL, NULL);
  puts("no sessions");
  MPI_Finalize();
#endif
}

int main(int argc, char** argv) {
  if (strcmp(argv[1], "world") == 0)
    in_world(&argc, &argv);
  else
    in_session();
  return 0;
}
