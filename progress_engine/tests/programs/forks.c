/* SPDX-License-Identifier: BSD-3-Clause */
/* Forks while other threads begin and end, each with a call of MPI: `forks NUMBER`, one rank. In each child the thread
 * that has forked ends as a thread does, after it has loaded a library: `forks NUMBER LIBRARY`. Prints in how many
 * children it came to its end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STARTERS = 2, SECONDS_FOR_A_CHILD = 10 };

static atomic_int over;

static void* call(void* unused) {
  int sent = 1, received = 0;
  MPI_Sendrecv(&sent, 1, MPI_INT, 0, 0, &received, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return unused;
}

static void* start_threads(void* unused) {
  while (!over) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, call, NULL) == 0) pthread_join(thread, NULL);
  }
  return unused;
}

/* Of the program's own key, which is younger than the engine's: called after what the engine does at a thread's end. */
static void end_child(void* parent) {
  if (*(pid_t*)parent != getpid()) _exit(0);
}

static int ends_in_a_child(const char* library) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    alarm(SECONDS_FOR_A_CHILD);
    if (library && !dlopen(library, RTLD_NOW)) _exit(1);
    pthread_exit(NULL);
  }
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char** argv) {
  static pid_t parent;
  int provided, ended = 0;
  const int number = argc > 1 ? atoi(argv[1]) : 1;
  pthread_key_t key;
  pthread_t starters[STARTERS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) return 77;
  call(NULL);
  parent = getpid();
  pthread_key_create(&key, end_child);
  pthread_setspecific(key, &parent);
  for (int i = 0; i < STARTERS; ++i) pthread_create(&starters[i], NULL, start_threads, NULL);
  for (int i = 0; i < number && ended == i; ++i) ended += ends_in_a_child(argc > 2 ? argv[2] : NULL);
  over = 1;
  for (int i = 0; i < STARTERS; ++i) pthread_join(starters[i], NULL);
  printf("rank 0: %d children ended\n", ended);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
