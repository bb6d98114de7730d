// SPDX-License-Identifier: BSD-3-Clause
// Each rank and the one half of them further exchange large messages beside computation, 40 times or as often as the
// argument says, and look at what arrived. With ranks laid out in blocks on two nodes that is one on the other node.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { size = 1 << 20 };

static double compute(double seconds) {
  double sum = 0;
  for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < seconds;)
    for (int i = 0; i < 1000; ++i) sum += i;
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int exchanges = argc > 1 ? atoi(argv[1]) : 40;
  const int partner = (rank + ranks / 2) % ranks;
  unsigned char* to = malloc(size);
  unsigned char* from = malloc(size);
  for (int round = 0; round < exchanges; ++round) {
    for (int i = 0; i < size; ++i) to[i] = (unsigned char)(rank + round + i);
    MPI_Request requests[2];
    MPI_Irecv(from, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(to, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[1]);
    compute(0.02);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size; ++i)
      if (from[i] != (unsigned char)(partner + round + i)) {
        printf("rank %d: wrong\n", rank);
        break;
      }
  }
  printf("rank %d: done\n", rank);
  free(to);
  free(from);
  MPI_Finalize();
  return 0;
}
