/* SPDX-License-Identifier: BSD-3-Clause
   Each rank sends 4 MiB to the next one, as often as the argument says (once), and prints a line of what it saw. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  enum { size = 4 << 20 };
  int rank, ranks, length;
  char host[MPI_MAX_PROCESSOR_NAME];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Get_processor_name(host, &length);
  char *out = malloc(size), *in = calloc(size, 1);
  memset(out, rank + 1, size);
  const long repetitions = argc > 1 ? atol(argv[1]) : 1;
  for (long i = 0; i < repetitions; i++) {
    MPI_Request requests[2];
    MPI_Irecv(in, size, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, size, MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  printf("rank %d of %d on %s received %d\n", rank, ranks, host, in[size - 1]);
  MPI_Finalize();
  free(out);
  free(in);
  return 0;
}
