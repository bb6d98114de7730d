// SPDX-License-Identifier: BSD-3-Clause
// `many_ranks PATTERN ROUNDS`: many ranks on few CPUs, whose engines' calls and wakes are counted. Each round starts
// something, is away for some milliseconds as who computes is, though asleep, and then tests until it is complete: who
// spins in MPI_Wait would keep the others from their CPUs. What arrived is checked.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { words = 128, most = 4, away_us = 5000, pause_us = 1000 };

static int rank, size;

static void finish(int count, MPI_Request* requests) {
  usleep(away_us);
  MPI_Status statuses[most];
  for (int done = 0; !done;) {
    MPI_Testall(count, requests, &done, statuses);
    if (!done) usleep(pause_us);
  }
}

// Each returns the number of words that are not as they should be.

static int allreduce(int round) {
  long to[words];
  long from[words];
  for (int i = 0; i < words; ++i) to[i] = rank + round + i;
  MPI_Request request;
  MPI_Iallreduce(to, from, words, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
  finish(1, &request);
  int wrong = 0;
  for (int i = 0; i < words; ++i) wrong += from[i] != (long)size * (size - 1) / 2 + (long)size * (round + i);
  return wrong;
}

static int alltoall(int round) {
  int* to = malloc(sizeof(int) * words * (size_t)size);
  int* from = malloc(sizeof(int) * words * (size_t)size);
  for (int i = 0; i < words * size; ++i) to[i] = round + rank * size + i / words;
  MPI_Request request;
  MPI_Ialltoall(to, words, MPI_INT, from, words, MPI_INT, MPI_COMM_WORLD, &request);
  finish(1, &request);
  int wrong = 0;
  for (int i = 0; i < words * size; ++i) wrong += from[i] != round + i / words * size + rank;
  free(to);
  free(from);
  return wrong;
}

// With the next ranks on both sides.
static int halo(int round) {
  const int sides[2] = {(rank + 1) % size, (rank + size - 1) % size};
  int to[words];
  int from[2][words];
  MPI_Request requests[most];
  for (int i = 0; i < words; ++i) to[i] = round + rank + i;
  for (int side = 0; side < 2; ++side) {
    MPI_Irecv(from[side], words, MPI_INT, sides[side], side, MPI_COMM_WORLD, &requests[side]);
    MPI_Isend(to, words, MPI_INT, sides[side], 1 - side, MPI_COMM_WORLD, &requests[2 + side]);
  }
  finish(4, requests);
  int wrong = 0;
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < words; ++i) wrong += from[side][i] != round + sides[side] + i;
  return wrong;
}

typedef struct Pattern {
  const char* name;
  int (*run)(int round);
} Pattern;

static const Pattern patterns[] = {{"allreduce", allreduce}, {"alltoall", alltoall}, {"halo", halo}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* name = argc > 2 ? argv[1] : "";
  const Pattern* pattern = NULL;
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i)
    if (strcmp(patterns[i].name, name) == 0) pattern = &patterns[i];
  if (!pattern) {
    fprintf(stderr, "many_ranks PATTERN ROUNDS, not '%s'\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
  int wrong = 0;
  const int rounds = atoi(argv[2]);
  for (int round = 0; round < rounds; ++round) wrong += pattern->run(round);
  if (wrong > 0) fprintf(stderr, "rank %d: %d words are wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong > 0;
}
