/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of each rank make calls that wait for other processes, on the two ranks in opposite orders: each process
 * must let both in at once. argv[1]: communicators or windows. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { TIMES = 100, THREADS = 2 };
static int rank;
static const char* what;
static MPI_Comm parents[THREADS];
static MPI_Win windows[THREADS];
static int memory[THREADS];
static pthread_barrier_t both;

static void make_communicators(MPI_Comm parent) {
  MPI_Comm made;
  MPI_Group group;
  MPI_Comm_split(parent, 0, rank, &made);
  MPI_Comm_free(&made);
  MPI_Comm_group(parent, &group);
  MPI_Comm_create(parent, group, &made);
  MPI_Comm_free(&made);
  MPI_Comm_create_group(parent, group, 1, &made);
  MPI_Comm_free(&made);
  MPI_Group_free(&group);
}

/* Post, start, complete, wait with the other rank. */
static void expose(int number) {
  MPI_Group all, other;
  const int partner = 1 - rank;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &partner, &other);
  MPI_Win_post(other, 0, windows[number]);
  MPI_Win_start(other, 0, windows[number]);
  MPI_Put(&rank, 1, MPI_INT, partner, 0, 1, MPI_INT, windows[number]);
  MPI_Win_complete(windows[number]);
  MPI_Win_wait(windows[number]);
  MPI_Group_free(&other);
  MPI_Group_free(&all);
}

/* The other rank's threads take the two in the other order. */
static void* work(void* argument) {
  const int thread = *(int*)argument;
  const int number = rank == 0 ? thread : THREADS - 1 - thread;
  for (int i = 0; i < TIMES; ++i) {
    if (thread == 0) MPI_Barrier(MPI_COMM_WORLD);
    pthread_barrier_wait(&both);
    if (what[0] == 'c') make_communicators(parents[number]);
    if (what[0] == 'w') expose(number);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level, numbers[THREADS] = {0, 1};
  pthread_t threads[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  what = argc > 1 ? argv[1] : "communicators";
  for (int i = 0; i < THREADS; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
    MPI_Win_create(&memory[i], sizeof memory[i], 1, MPI_INFO_NULL, parents[i], &windows[i]);
  }
  pthread_barrier_init(&both, NULL, THREADS);
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, &numbers[i]);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; ++i) {
    MPI_Win_free(&windows[i]);
    MPI_Comm_free(&parents[i]);
  }
  printf("rank %d: %s done\n", rank, what);
  MPI_Finalize();
  return 0;
}
