/* SPDX-License-Identifier: BSD-3-Clause */
/* User-level threads that are suspended inside MPI calls, as an MPI over Argobots suspends them, and go on on another
 * kernel thread: `moving beside|elsewhere`; `moving between`: while one is inside, the kernel thread on which it began
 * makes calls of its own; `moving often`: 5,000 times; `moving waiting`: one waits for what another one sends. With
 * -DSTAND_IN the library to preload below the engine that suspends them. Prints whether the engine polled while one was
 * inside MPI, and when none was any more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

#ifdef STAND_IN
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  int (*receive)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = NULL;
  void (*suspend)(void) = NULL;
  *(void**)&receive = dlsym(RTLD_NEXT, "PMPI_Irecv"); /* the MPI's own, past the engine's */
  *(void**)&suspend = dlsym(RTLD_DEFAULT, "suspend_here");
  suspend();
  const int code = receive(buffer, count, type, from, tag, comm, request);
  suspend();
  return code;
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  int (*receive)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) = NULL;
  void (*suspend)(void) = NULL;
  *(void**)&receive = dlsym(RTLD_NEXT, "PMPI_Recv");
  *(void**)&suspend = dlsym(RTLD_DEFAULT, "suspend_here");
  suspend(); /* until another one has sent */
  return receive(buffer, count, type, from, tag, comm, status);
}
#else
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum { THREADS = 3, STACK = 256 * 1024 };

typedef struct {
  ucontext_t context, scheduler;
  void* stack;
  int got, done;
  MPI_Request request;
} Thread;

static Thread threads[THREADS];
static __thread Thread* current; /* one runs at a time on each kernel thread */

void suspend_here(void) {
  Thread* self = current;
  if (!self) return;
  current = NULL;
  swapcontext(&self->context, &self->scheduler);
}

static void resume(Thread* thread) {
  current = thread;
  swapcontext(&thread->scheduler, &thread->context);
  current = NULL;
}

static void receive(int index) {
  Thread* self = &threads[index];
  MPI_Irecv(&self->got, 1, MPI_INT, 0, index, MPI_COMM_SELF, &self->request);
  self->done = 1;
}

static void receive_in_one_call(int index) {
  Thread* self = &threads[index];
  MPI_Recv(&self->got, 1, MPI_INT, 0, index, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  self->done = 1;
}

static void send_to_the_first(int index) {
  static const int value = 42;
  MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
            &threads[index].request); /* MPICH's MPI_Send waits for a receive */
  threads[index].done = 1;
}

static void make(int index, void (*body)(int)) {
  Thread* thread = &threads[index];
  if (!thread->stack) thread->stack = malloc(STACK);
  getcontext(&thread->context);
  thread->context.uc_stack.ss_sp = thread->stack;
  thread->context.uc_stack.ss_size = STACK;
  thread->context.uc_link = &thread->scheduler;
  makecontext(&thread->context, (void (*)(void))body, 1, index);
}

static void* resume_here(void* thread) {
  resume(thread);
  return NULL;
}

static void resume_elsewhere(Thread* thread) {
  pthread_t other;
  pthread_create(&other, NULL, resume_here, thread);
  pthread_join(other, NULL);
}

static long report(const char* key) {
  const char* (*json)(void) = NULL;
  *(void**)&json = dlsym(RTLD_DEFAULT, "pe_report_json");
  const char* found = json ? strstr(json(), key) : NULL;
  return found ? atol(found + strlen(key)) : 0;
}

/* Of this thread: on a busy machine others get as little. */
static double cpu_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int polled_while_computing(void) {
  const long before = report("\"polls\":");
  for (const double end = cpu_time() + 0.2; cpu_time() < end;) {
  }
  return report("\"polls\":") > before;
}

enum { ROUNDS = 5000 };

static atomic_int handed, ended;

static void receive_nothing(int index) {
  Thread* self = &threads[index];
  MPI_Irecv(&self->got, 1, MPI_INT, MPI_PROC_NULL, index, MPI_COMM_SELF, &self->request);
}

static void await(atomic_int* counter, int value) {
  while (atomic_load(counter) < value) sched_yield();
}

static void* end_calls_here(void* unused) {
  for (int i = 1; i <= ROUNDS; ++i) {
    await(&handed, i);
    resume(&threads[0]); /* it has left MPI */
    atomic_store(&ended, i);
  }
  return unused;
}

/* Each call begins on this kernel thread and ends on another one, while this one makes calls of its own. How many
 * operations were started. */
static int move_often(void) {
  int operations = 0;
  pthread_t other;
  MPI_Request request;
  int got = 0;
  pthread_create(&other, NULL, end_calls_here, NULL);
  for (int i = 1; i <= ROUNDS; ++i) {
    make(0, receive_nothing);
    resume(&threads[0]);
    resume(&threads[0]);
    atomic_store(&handed, i);
    for (++operations; atomic_load(&ended) < i; ++operations) {
      MPI_Irecv(&got, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&threads[0].request, MPI_STATUS_IGNORE);
  }
  pthread_join(other, NULL);
  return operations;
}

/* Calls of this kernel thread's own, one after the other: behind the first it is still known who is inside. */
static void call_twice(void) {
  MPI_Request request;
  int got = 0;
  for (int i = 0; i < 2; ++i) {
    MPI_Irecv(&got, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  int provided = 0, own = 0, value = 42, sum = 0;
  MPI_Request pending;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (argc < 2 || provided < MPI_THREAD_MULTIPLE) return 2;
  void (*const go_on)(Thread*) = strcmp(argv[1], "elsewhere") == 0 ? resume_elsewhere : resume;
  if (strcmp(argv[1], "waiting") == 0) {
    make(0, receive_in_one_call);
    make(1, send_to_the_first);
    for (int i = 0; i < 4; ++i)
      if (!threads[i % 2].done) resume(&threads[i % 2]);
    MPI_Wait(&threads[1].request, MPI_STATUS_IGNORE);
    printf("rank 0: received %d\n", threads[0].got * threads[0].done);
    return MPI_Finalize();
  }
  MPI_Irecv(&own, 1, MPI_INT, 0, THREADS, MPI_COMM_SELF, &pending); /* this stack's own: never suspended */
  if (strcmp(argv[1], "often") == 0) {
    const int operations = 1 + move_often();
    printf("rank 0: polled afterwards %d, %d operations\n", polled_while_computing(), operations);
    MPI_Send(&value, 1, MPI_INT, 0, THREADS, MPI_COMM_SELF);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    return MPI_Finalize();
  }
  if (strcmp(argv[1], "between") == 0) {
    make(0, receive);
    resume(&threads[0]);
    call_twice();
    const int inside = polled_while_computing();
    resume_elsewhere(&threads[0]);
    resume_elsewhere(&threads[0]);
    const int outside = polled_while_computing();
    for (int tag = 0; tag <= THREADS; tag += THREADS) MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
    MPI_Wait(&threads[0].request, MPI_STATUS_IGNORE);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    printf("rank 0: received %d, polled while one was inside %d, afterwards %d, 4 operations\n", threads[0].got + own,
           inside, outside);
    return MPI_Finalize();
  }
  for (int i = 0; i < THREADS; ++i) make(i, receive);
  for (int i = 0; i < THREADS; ++i) resume(&threads[i]); /* all are inside, by this kernel thread */
  go_on(&threads[0]);
  go_on(&threads[0]); /* it has left MPI */
  const int inside = polled_while_computing();
  go_on(&threads[2]);
  resume(&threads[1]);
  go_on(&threads[2]);
  resume(&threads[1]);
  const int outside = polled_while_computing();
  for (int i = 0; i < THREADS; ++i) {
    MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    MPI_Wait(&threads[i].request, MPI_STATUS_IGNORE);
    sum += threads[i].got * threads[i].done;
  }
  MPI_Send(&value, 1, MPI_INT, 0, THREADS, MPI_COMM_SELF);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  printf("rank 0: received %d, polled while one was inside %d, afterwards %d, 4 operations\n", sum + own, inside,
         outside);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
#endif
