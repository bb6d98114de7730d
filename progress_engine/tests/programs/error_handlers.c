/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are too long, on a communicator whose error handler is not MPI_COMM_WORLD's: `error_handlers NAME`.
 * Two ranks. */
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

static int is_truncation(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class == MPI_ERR_TRUNCATE;
}

/* By MPI_Wait and MPI_Recv, from the other rank and from oneself, beside a receive that stays pending. How many the
 * calls told of. */
static int truncated(MPI_Comm comm) {
  const int sources[] = {peer, rank};
  int told = 0;
  MPI_Request pending, requests[2];
  MPI_Irecv(incoming, 1, MPI_INT, peer, 9, comm, &pending);
  for (int round = 0; round < 2 * ROUNDS; ++round) {
    const int source = sources[round % 2];
    MPI_Irecv(incoming, 1, MPI_INT, source, 1, comm, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(outgoing, LONG, MPI_INT, source, 1, comm, &requests[1]);
    told += is_truncation(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Isend(outgoing, LONG, MPI_INT, source, 2, comm, &requests[1]);
    told += is_truncation(MPI_Recv(incoming, 1, MPI_INT, source, 2, comm, MPI_STATUS_IGNORE));
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  MPI_Cancel(&pending);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  return told;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  const char* what = argc > 1 ? argv[1] : "";
  int told = 0;
  if (!strcmp(what, "returns")) told = truncated(with_handler(MPI_ERRORS_RETURN));
  if (!strcmp(what, "counts")) truncated(with_handler(counting()));
  if (!strcmp(what, "ends")) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    told = truncated(with_handler(MPI_ERRORS_ARE_FATAL));
  }
  printf("rank %d: told %d, handled %d\n", rank, told, handled);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
