/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collective calls, each several times, of a program at the thread level LEVEL (a number): `collectives
 * LEVEL`. A line a rank with a checksum of what arrived, in which the order of a sum's terms shows. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 20000, MOST_RANKS = 8, ROUNDS = 3 };

static int rank, size;
static double out[COUNT * MOST_RANKS], in[COUNT * MOST_RANKS];
static int counts[MOST_RANKS], offsets[MOST_RANKS];
static uint64_t checksum = 14695981039346656037U; /* FNV-1a */

static void note(void) {
  const unsigned char* bytes = (const unsigned char*)in;
  for (size_t i = 0; i < sizeof in; ++i) checksum = (checksum ^ bytes[i]) * 1099511628211U;
  memset(in, 0, sizeof in);
}

static void all_of_them(MPI_Comm comm) {
  const MPI_Datatype d = MPI_DOUBLE;
  MPI_Barrier(comm);
  if (rank == 0) memcpy(in, out, sizeof *in * COUNT);
  MPI_Bcast(in, COUNT, d, 0, comm), note();
  MPI_Gather(out, COUNT, d, in, COUNT, d, 0, comm), note();
  MPI_Gatherv(out, COUNT, d, in, counts, offsets, d, 0, comm), note();
  MPI_Scatter(out, COUNT, d, in, COUNT, d, 0, comm), note();
  MPI_Scatterv(out, counts, offsets, d, in, COUNT, d, 0, comm), note();
  MPI_Allgather(out, COUNT, d, in, COUNT, d, comm), note();
  MPI_Allgatherv(out, COUNT, d, in, counts, offsets, d, comm), note();
  MPI_Alltoall(out, COUNT, d, in, COUNT, d, comm), note();
  MPI_Alltoallv(out, counts, offsets, d, in, counts, offsets, d, comm), note();
  MPI_Reduce(out, in, COUNT, d, MPI_SUM, 0, comm), note();
  MPI_Allreduce(out, in, COUNT, d, MPI_SUM, comm), note();
  MPI_Reduce_scatter(out, in, counts, d, MPI_SUM, comm), note();
  MPI_Reduce_scatter_block(out, in, COUNT, d, MPI_SUM, comm), note();
  MPI_Scan(out, in, COUNT, d, MPI_SUM, comm), note();
  MPI_Exscan(out, in, COUNT, d, MPI_SUM, comm), note();
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Comm comm;
  MPI_Init_thread(&argc, &argv, atoi(argv[1]), &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MOST_RANKS) return 2;
  for (int i = 0; i < COUNT * MOST_RANKS; ++i) out[i] = 1.0 / (1 + i + 7 * rank);
  for (int i = 0; i < size; ++i) counts[i] = COUNT, offsets[i] = i * COUNT;
  for (int round = 0; round < ROUNDS; ++round) {
    all_of_them(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all_of_them(comm);
    MPI_Comm_free(&comm);
  }
  printf("rank %d: %016llx\n", rank, (unsigned long long)checksum);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
