/* SPDX-License-Identifier: BSD-3-Clause */
/* What must not be done under the preset `offload`, one a name: `misuse NAME [COUNT]`. One rank. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

static int value, received;

/* ---- a user-level thread of a library that has no adapter: a context of one's own */
static ucontext_t main_context, other_context;

static void receive_on_another_stack(void) { MPI_Recv(&received, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void unknown_user_level_thread(void) {
  static char stack[1 << 18];
  MPI_Request request;
  value = 42;
  MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
  getcontext(&other_context);
  other_context.uc_stack.ss_sp = stack;
  other_context.uc_stack.ss_size = sizeof stack;
  other_context.uc_link = &main_context;
  makecontext(&other_context, receive_on_another_stack, 0);
  swapcontext(&main_context, &other_context);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("received %d\n", received);
}

/* ---- a callback that waits for the thread that runs it */
static int delete_attribute(MPI_Comm comm, int key, void* attribute, void* extra) {
  (void)comm, (void)key, (void)attribute, (void)extra;
  return MPI_Recv(&received, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* which nobody sends */
}

static void waiting_callback(void) {
  int key;
  MPI_Comm copy;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &copy);
  MPI_Comm_set_attr(copy, key, &value);
  MPI_Comm_free(&copy);
}

/* ---- MPI_Finalize while another thread waits */
static void* receive_for_ever(void* unused) {
  MPI_Recv(&received, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return unused;
}

static void finalize_with_a_waiter(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, receive_for_ever, NULL);
  usleep(200000);
  MPI_Finalize();
}

/* ---- requests that nobody waits for */
static void forgotten_requests(long count) {
  for (long i = 0; i < count; ++i) {
    MPI_Request request;
    MPI_Irecv(&received, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%ld requests, %ld MB\n", count, usage.ru_maxrss / 1024);
}

/* ---- a null pointer in place of MPI_STATUS_IGNORE, which is another one in some MPIs */
static void null_status(void) {
  MPI_Recv(&received, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, NULL);
  MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, NULL);
  printf("went on\n");
}

int main(int argc, char** argv) {
  int provided;
  if (argc < 2) return 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (!strcmp(argv[1], "unknown-ult")) unknown_user_level_thread();
  if (!strcmp(argv[1], "callback")) waiting_callback();
  if (!strcmp(argv[1], "finalize")) finalize_with_a_waiter();
  if (!strcmp(argv[1], "null-status")) null_status();
  if (!strcmp(argv[1], "forgotten")) forgotten_requests(atol(argv[2]));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
