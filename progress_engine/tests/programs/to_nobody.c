/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent operations with MPI_PROC_NULL: two at once, and each beside a receive that is pending. One rank. */
#include <mpi.h>
#include <stdio.h>

enum { KINDS = 5, ROUNDS = 2 };
static int value;
static char room[1024];

static void prepare(MPI_Request requests[KINDS]) {
  MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Ssend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Rsend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Bsend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[4]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Request requests[KINDS], pending;
  int received = 0, size = sizeof room;
  char* attached = room;
  MPI_Buffer_attach(room, size);
  prepare(requests);
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Startall(KINDS, requests);
    MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Irecv(&received, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &pending);
  for (int kind = 0; kind < KINDS; ++kind) {
    MPI_Status status;
    MPI_Start(&requests[kind]);
    MPI_Wait(&requests[kind], &status);
    if (kind == KINDS - 1) printf("rank 0: from %s\n", status.MPI_SOURCE == MPI_PROC_NULL ? "nobody" : "somebody");
  }
  value = 7;
  MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  for (int kind = 0; kind < KINDS; ++kind) MPI_Request_free(&requests[kind]);
  MPI_Buffer_detach(&attached, &size);
  printf("rank 0: received %d\n", received);
  MPI_Finalize();
  return 0;
}
