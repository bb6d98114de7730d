/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors on a communicator that has an error handler of its own, while MPI_COMM_WORLD's ends the program:
 * `error_handlers NAME`. Two ranks; the operations' results are the same with and without the engine. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LONG = 4, ROUNDS = 2 };
static int rank, peer, handled;
static int outgoing[LONG], incoming[LONG];

static void count(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static MPI_Comm with_handler(MPI_Errhandler handler) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  return comm;
}

static MPI_Errhandler counting(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count, &handler);
  return handler;
}

/* Messages longer than the receive, by MPI_Wait and MPI_Recv, beside a receive that stays pending. How many the calls
 * told of. */
static int truncated(MPI_Comm comm) {
  int told = 0;
  MPI_Request pending, requests[2];
  MPI_Irecv(incoming, 1, MPI_INT, peer, 9, comm, &pending);
  for (int round = 0; round < ROUNDS; ++round) {
    int class = MPI_SUCCESS;
    MPI_Irecv(incoming, 1, MPI_INT, peer, 1, comm, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(outgoing, LONG, MPI_INT, peer, 1, comm, &requests[1]);
    MPI_Error_class(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), &class);
    told += class == MPI_ERR_TRUNCATE;
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Isend(outgoing, LONG, MPI_INT, peer, 2, comm, &requests[1]);
    MPI_Error_class(MPI_Recv(incoming, 1, MPI_INT, peer, 2, comm, MPI_STATUS_IGNORE), &class);
    told += class == MPI_ERR_TRUNCATE;
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  MPI_Cancel(&pending);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  return told;
}

/* To a rank that there is not; the handler may make a success of it. */
static void send_to_nobody(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  for (int wrong = 2; wrong < 5; ++wrong) {
    MPI_Send(outgoing, 1, MPI_INT, wrong, 0, comm);
    MPI_Isend(outgoing, 1, MPI_INT, wrong, 0, comm, &request);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  const char* what = argc > 1 ? argv[1] : "";
  int told = 0;
  if (!strcmp(what, "returns")) told = truncated(with_handler(MPI_ERRORS_RETURN));
  if (!strcmp(what, "counts")) truncated(with_handler(counting()));
  if (!strcmp(what, "wrong-rank")) send_to_nobody(with_handler(counting()));
  printf("rank %d: told %d, handled %d\n", rank, told, handled);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
