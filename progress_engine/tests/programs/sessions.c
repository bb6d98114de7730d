/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI sessions, two ranks: `sessions alone` opens and closes two without MPI_Init, one inside the other's life;
 * `sessions world` opens one beside MPI_COMM_WORLD, before MPI_Init where `before` follows, and closes it after
 * MPI_Finalize where `late` follows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 300000 };
static int outgoing[LARGE], incoming[LARGE];

static void fail(const char* what) {
  fprintf(stderr, "%s failed\n", what);
  exit(3);
}

static MPI_Session open_session(void) {
  MPI_Session session;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) != MPI_SUCCESS) fail("MPI_Session_init");
  return session;
}

/* An exchange over a communicator of all processes; a checksum. */
static long exchange(MPI_Session session, const char* tag, int* rank) {
  MPI_Group world;
  MPI_Comm comm;
  MPI_Request requests[2];
  long total = 0;
  if (MPI_Group_from_session_pset(session, "mpi://WORLD", &world) != MPI_SUCCESS) fail("MPI_Group_from_session_pset");
  if (MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) != MPI_SUCCESS)
    fail("MPI_Comm_create_from_group");
  MPI_Group_free(&world);
  MPI_Comm_rank(comm, rank);
  for (int i = 0; i < LARGE; ++i) outgoing[i] = *rank + i % 7;
  MPI_Irecv(incoming, LARGE, MPI_INT, 1 - *rank, 1, comm, &requests[0]);
  MPI_Isend(outgoing, LARGE, MPI_INT, 1 - *rank, 1, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < LARGE; ++i) total += incoming[i];
  MPI_Comm_free(&comm);
  return total;
}

static void alone(void) {
  int rank = -1;
  MPI_Session outer = open_session();
  const long first = exchange(outer, "first", &rank);
  MPI_Session inner = open_session();
  const long second = exchange(inner, "second", &rank);
  MPI_Session_finalize(&inner);
  const long third = exchange(outer, "third", &rank);
  MPI_Session_finalize(&outer);
  printf("rank %d: alone %ld %ld %ld\n", rank, first, second, third);
}

static void beside_world(int before, int late) {
  int rank = -1, provided;
  MPI_Session session;
  if (before) session = open_session();
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  if (!before) session = open_session();
  const long first = exchange(session, "first", &rank);
  if (late) MPI_Finalize();
  const long second = late ? first : exchange(session, "second", &rank);
  MPI_Session_finalize(&session);
  if (!late) MPI_Finalize();
  printf("rank %d: world %d %ld %ld\n", rank, provided, first, second);
}

int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "alone"))
    alone();
  else
    beside_world(argc > 2 && !strcmp(argv[2], "before"), argc > 2 && !strcmp(argv[2], "late"));
  fflush(stdout);
  return 0;
}
