/* SPDX-License-Identifier: BSD-3-Clause */
/* small BYTES MESSAGES HOW: two ranks, 40 phases. In each, both start so many messages of so many bytes to each other,
 * by Isend, Issend or persistent requests, compute for 2 ms, and wait for them: what the engine does about that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHASES = 40, MOST = 64, LONGEST = 32768 };

static char outgoing[LONGEST], incoming[MOST][LONGEST];
static MPI_Request requests[2 * MOST];

static void compute(void) {
  for (const double end = MPI_Wtime() + 2e-3; MPI_Wtime() < end;) {
  }
}

int main(int argc, char** argv) {
  const int bytes = argc == 4 ? atoi(argv[1]) : 0;
  const int messages = argc == 4 ? atoi(argv[2]) : 0;
  if (messages < 1 || messages > MOST || bytes < 1 || bytes > LONGEST) return 2;
  const int persistent = !strcmp(argv[3], "persistent");
  const int synchronous = !strcmp(argv[3], "issend");
  int rank;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; persistent && i < messages; ++i) {
    MPI_Recv_init(incoming[i], bytes, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Send_init(outgoing, bytes, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD, &requests[messages + i]);
  }
  for (int phase = 0; phase < PHASES; ++phase) {
    if (persistent) MPI_Startall(2 * messages, requests);
    for (int i = 0; !persistent && i < messages; ++i)
      MPI_Irecv(incoming[i], bytes, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; !persistent && i < messages; ++i)
      (synchronous ? MPI_Issend : MPI_Isend)(outgoing, bytes, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD,
                                             &requests[messages + i]);
    compute();
    MPI_Waitall(2 * messages, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; persistent && i < 2 * messages; ++i) MPI_Request_free(&requests[i]);
  MPI_Finalize();
  return 0;
}
