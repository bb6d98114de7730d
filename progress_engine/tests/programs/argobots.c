/* SPDX-License-Identifier: BSD-3-Clause */
/* Argobots' user-level threads that make blocking calls: `argobots THREADS ROUNDS`. Two ranks, two execution streams
 * each with one pool for both, so that a thread resumes on whichever is free. Prints one line a rank, and on stderr how
 * many waits ended on another kernel thread. */
#define _GNU_SOURCE
#include <abt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, rounds;
static long errors, moved;

static void live(void* argument) {
  const int tag = (int)(long)argument;
  for (int round = 0; round < rounds; ++round) {
    const int mine = 1000 * round + tag + rank;
    int theirs = -1;
    if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    const int thread = gettid();
    MPI_Recv(&theirs, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (gettid() != thread) __atomic_add_fetch(&moved, 1, __ATOMIC_RELAXED);
    if (rank == 1) MPI_Send(&mine, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    if (theirs != 1000 * round + tag + 1 - rank) __atomic_add_fetch(&errors, 1, __ATOMIC_RELAXED);
  }
}

int main(int argc, char** argv) {
  int provided;
  if (argc < 3) return 2;
  const int threads = atoi(argv[1]);
  rounds = atoi(argv[2]);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ABT_init(argc, argv);
  ABT_pool pool;
  ABT_xstream first, second;
  ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool);
  ABT_xstream_self(&first);
  ABT_xstream_set_main_sched_basic(first, ABT_SCHED_BASIC, 1, &pool);
  ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &second);
  ABT_thread* all = calloc((size_t)threads, sizeof *all);
  for (long i = 0; i < threads; ++i) ABT_thread_create(pool, live, (void*)i, ABT_THREAD_ATTR_NULL, &all[i]);
  for (int i = 0; i < threads; ++i) ABT_thread_free(&all[i]);
  ABT_xstream_join(second);
  ABT_xstream_free(&second);
  printf("rank %d: %d threads, %d rounds, %ld errors\n", rank, threads, rounds, errors);
  fflush(stdout);
  fprintf(stderr, "moved %ld\n", moved);
  ABT_finalize();
  MPI_Finalize();
  return 0;
}
