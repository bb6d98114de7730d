/* SPDX-License-Identifier: BSD-3-Clause */
/* `cycles NUMBER`, one rank: MPI begins and ends that often, by sessions, and each life exchanges a message with
 * itself. Prints by how much this process grew meanwhile: threads, descriptors, communicators (tool: communicators.c),
 * bytes. */
#include <dirent.h>
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "threads.h"

static void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s failed\n", what);
  exit(3);
}

static void live(void) {
  MPI_Session session;
  MPI_Group self;
  MPI_Comm comm;
  MPI_Request requests[2];
  int sent = 42, received = 0;
  check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
  check(MPI_Group_from_session_pset(session, "mpi://SELF", &self), "MPI_Group_from_session_pset");
  check(MPI_Comm_create_from_group(self, "life", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
        "MPI_Comm_create_from_group");
  check(MPI_Group_free(&self), "MPI_Group_free");
  check(MPI_Irecv(&received, 1, MPI_INT, 0, 1, comm, &requests[0]), "MPI_Irecv");
  check(MPI_Isend(&sent, 1, MPI_INT, 0, 1, comm, &requests[1]), "MPI_Isend");
  check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
  check(received == sent ? MPI_SUCCESS : MPI_ERR_OTHER, "the message");
  check(MPI_Comm_free(&comm), "MPI_Comm_free");
  check(MPI_Session_finalize(&session), "MPI_Session_finalize");
}

static long entries(const char* folder) {
  long number = 0;
  DIR* directory = opendir(folder);
  while (readdir(directory)) ++number;
  closedir(directory);
  return number;
}

enum { WARM_UP = 10 };

typedef struct {
  long threads, descriptors, bytes;
} Size;

static Size size(void) {
  const struct mallinfo2 heap = mallinfo2();
  return (Size){living_threads(NULL), entries("/proc/self/fd"), (long)(heap.uordblks + heap.hblkhd)};
}

int main(int argc, char** argv) {
  const int cycles = argc > 1 ? atoi(argv[1]) : 10;
  for (int i = 0; i < WARM_UP; ++i) live(); /* what is made once and kept */
  const Size before = size();
  for (int i = 0; i < cycles; ++i) live();
  const Size after = size();
  printf("rank 0: cycles %d threads %ld descriptors %ld bytes %ld\n", cycles, after.threads - before.threads,
         after.descriptors - before.descriptors, after.bytes - before.bytes);
  return 0;
}
