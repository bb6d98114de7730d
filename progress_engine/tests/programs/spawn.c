/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_spawn: one rank spawns a child, by the command line's words (this program, or what starts it), exchanges
 * messages with it while both compute, and prints what arrived. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LARGE = 300000 };
static int outgoing[LARGE], incoming[LARGE];

static void compute(double seconds) {
  for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
  }
}

static long exchange(MPI_Comm other, int seed) {
  MPI_Request requests[2];
  long total = 0;
  for (int i = 0; i < LARGE; ++i) outgoing[i] = seed + i % 7;
  MPI_Irecv(incoming, LARGE, MPI_INT, 0, 1, other, &requests[0]);
  MPI_Isend(outgoing, LARGE, MPI_INT, 0, 1, other, &requests[1]);
  compute(0.02);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < LARGE; ++i) total += incoming[i];
  return total;
}

int main(int argc, char** argv) {
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&other);
  if (other != MPI_COMM_NULL) {
    exchange(other, 10);
  } else {
    MPI_Comm_spawn(argv[1], argc > 2 ? &argv[2] : MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
    printf("rank 0: %ld\n", exchange(other, 20));
  }
  fflush(stdout);
  MPI_Comm_disconnect(&other);
  MPI_Finalize();
  return 0;
}
