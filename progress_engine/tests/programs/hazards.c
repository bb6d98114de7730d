/* SPDX-License-Identifier: BSD-3-Clause */
/* What can go wrong when a second thread drives MPI: `hazards NAME`, two ranks. Each rank prints one line, the same
 * with and without the engine. Built with -DPLUGIN it is a plug-in, whose `run_hazard` is called by host.c. With
 * `second` after NAME it has no need of the engine: a thread of its own calls MPI_Test all the time, at
 * MPI_THREAD_MULTIPLE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "threads.h"

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PARTITIONED 1 /* Open MPI 5 calls itself 3.1 and has it */
#else
#define HAS_PARTITIONED 0
#endif

enum { COUNT = 100000, ROUNDS = 150, PARTS = 3 };

static int rank, peer;
static int out[COUNT], in[COUNT];

static void exchange(MPI_Request* requests) {
  MPI_Irecv(in, COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
}

/* What the engine says of itself in this process; "" without it. */
static const char* report(void) {
  const char* (*json)(void) = (const char* (*)(void))dlsym(RTLD_DEFAULT, "pe_report_json");
  return json ? json() : "";
}

/* The child is nobody's engine: it says so, and it ends. */
static long forked(void) {
  MPI_Request requests[2];
  exchange(requests);
  const pid_t child = fork();
  if (child == 0) exit(strstr(report(), "\"active\":true") ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return WEXITSTATUS(status);
}

/* The engine follows into another program, by LD_PRELOAD, and keeps out of its way. */
static long executed(void) {
  MPI_Request requests[2];
  exchange(requests);
  const pid_t child = fork();
  if (child == 0) execlp("sh", "sh", "-c", "exit 5", (char*)NULL);
  int status = 0;
  waitpid(child, &status, 0);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return WEXITSTATUS(status);
}

/* File operations and messages at once. */
static long files(void) {
  const char* folder = getenv("HAZARD_FOLDER");
  char name[4096];
  snprintf(name, sizeof name, "%s/data.%d", folder ? folder : "/tmp", rank);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS)
    return -1;
  static int written[64], read[64];
  long total = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    MPI_Request requests[3];
    written[0] = i + rank;
    exchange(requests);
    MPI_File_iwrite_at(file, 0, written, 64, MPI_INT, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_File_iread_at(file, 0, read, 64, MPI_INT, &requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    total += read[0];
  }
  MPI_File_close(&file);
  return total;
}

/* Exchanges for two seconds, and a thousand times at least: many turns of trial_ms on a machine of any speed. */
static long lasting(void) {
  const double end = MPI_Wtime() + 2.0;
  for (int more = 1, rounds = 1; more; ++rounds) {
    MPI_Request requests[2];
    exchange(requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    more = MPI_Wtime() < end || rounds < 1000;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return in[COUNT - 1];
}

/* Persistent requests: pending from their start, not from their making. */
static long persistent(void) {
  MPI_Request requests[2];
  MPI_Recv_init(in, COUNT, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, COUNT, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 10; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
  return in[COUNT - 1];
}

/* Freed while active: nobody will ever complete it. */
static long freed(void) {
  for (int i = 0; i < 10; ++i) {
    MPI_Request request;
    MPI_Isend(&rank, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(in, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return in[0];
}

static long messages(void) {
  long total = 0;
  for (int i = 0; i < 10; ++i) {
    MPI_Request requests[2];
    exchange(requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    total += in[COUNT - 1];
  }
  return total;
}

/* The computation needs the message that its own rank's progress must move: a big one, without a call for a while. */
static long quiet(void) {
  for (int i = 0; i < 5; ++i) {
    MPI_Request requests[2];
    exchange(requests);
    for (const double end = MPI_Wtime() + 0.03; MPI_Wtime() < end;) {
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  return in[COUNT - 1];
}

#if HAS_PARTITIONED
/* Many short partitioned operations, to and from both: what a poll does beside a start shows in one of them. In every
 * second round all has arrived before it is asked whether the last partition has. */
static long partitioned(void) {
  long total = 0;
  for (int i = 0; i < 40; ++i) {
    MPI_Request requests[2];
    MPI_Precv_init(in, PARTS, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, PARTS, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 10; ++round) {
      int arrived = 0;
      MPI_Start(&requests[0]);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Start(&requests[1]);
      for (int part = 0; part < PARTS; ++part) MPI_Pready(part, requests[1]);
      for (int all = round % 2; !all;) MPI_Request_get_status(requests[0], &all, MPI_STATUS_IGNORE);
      while (!arrived) MPI_Parrived(requests[0], PARTS - 1, &arrived);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    total += in[4 * PARTS - 1];
    for (int r = 0; r < 2; ++r) MPI_Request_free(&requests[r]);
  }
  return total;
}

/* Rank 1 sends at once; rank 0 clears its buffer before it starts the receive: nothing may have come before. */
static long unstarted_alone(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Precv_init(in, PARTS, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    usleep(300000);
    memset(in, 0, 4 * PARTS * sizeof *in);
    MPI_Start(&request);
  } else {
    MPI_Psend_init(out, PARTS, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    for (int part = 0; part < PARTS; ++part) MPI_Pready(part, request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return rank == 0 ? in[4 * PARTS - 1] : 0;
}

/* The same while another message is pending: the engine has a reason to poll. */
static long unstarted(void) {
  MPI_Request requests[2];
  MPI_Irecv(in + COUNT / 2, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[0]);
  const long result = unstarted_alone();
  MPI_Isend(out, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return result;
}

/* Rank 1's last send is small, so that under `offload` it returns before it is made, and a partitioned receive is never
 * started: MPI_Finalize must not wait for what that keeps back. The first messages teach the communicator's size. */
static long left(void) {
  MPI_Request never;
  MPI_Precv_init(in + 1, PARTS, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &never);
  for (int i = 0; i < 3; ++i) {
    if (i < 2 || rank == 1) MPI_Send(&rank, 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
    if (i < 2 || rank == 0) MPI_Recv(in, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return in[0];
}
#else
static long partitioned(void) { return 40L * (4 * PARTS - 1 + peer); }
static long unstarted_alone(void) { return rank == 0 ? 4 * PARTS - 1 + peer : 0; }
static long unstarted(void) { return unstarted_alone(); }
static long left(void) { return peer; }
#endif

/* Rank 0 watches its window's memory and makes no call: only progress there lets rank 1's update arrive. */
static long window(void) {
  MPI_Win made;
  int* memory;
  const int one = 1;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &made);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, made);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, made);
    MPI_Win_unlock(0, made);
  }
  long arrived = rank;
  for (const double end = MPI_Wtime() + 60; rank == 0 && !arrived && MPI_Wtime() < end;)
    arrived = *(volatile int*)memory;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&made);
  return arrived;
}

/* An error handler that does not return: what comes afterwards must count as before. Not at MPI_THREAD_MULTIPLE, at
 * which MPICH holds a mutex meanwhile. */
static jmp_buf back;

static void jump_back(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  longjmp(back, 1);
}

static long jumped(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(jump_back, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (setjmp(back) == 0) MPI_Send(out, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  return messages();
}

/* A file operation whose request was freed: afterwards the engine must poll as before. */
static long file_freed(void) {
  const char* folder = getenv("HAZARD_FOLDER");
  char name[4096];
  snprintf(name, sizeof name, "%s/freed.%d", folder ? folder : "/tmp", rank);
  MPI_File file;
  MPI_Request request;
  if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS)
    return -1;
  MPI_File_iwrite_at(file, 0, out, 64, MPI_INT, &request);
  MPI_Request_free(&request);
  const long result = window();
  MPI_File_close(&file);
  return result;
}

static int engine_threads(void) { return living_threads("pe-progress"); }

static void say_who_is_left(void) {
  printf("rank %d: %d engine threads left\n", rank, engine_threads());
  fflush(stdout);
}

/* A thread bears its name some time after it was made. */
static void say_whether_it_runs(void) {
  const int active = strstr(report(), "\"active\":true") != NULL;
  for (int i = 0; active && engine_threads() == 0 && i < 5000; ++i) usleep(1000);
  printf("rank %d: %s\n", rank, engine_threads() > 0 ? "engine threads" : "no engine");
  fflush(stdout);
}

/* The program leaves without MPI_Finalize: what is torn down then (here, by a handler that came before the engine's)
 * must not meet the engine's threads. */
static long leave(void) {
  MPI_Request request;
  MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request);
  say_whether_it_runs();
  exit(0);
}

/* The same by MPI_Abort: tool.c, below the engine, says who is left. */
static long give_up(void) {
  MPI_Request request;
  MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request);
  say_whether_it_runs();
  fflush(stdout);
  return MPI_Abort(MPI_COMM_WORLD, 7);
}

/* Two threads, one variable, nothing between them: what ThreadSanitizer is there to find. */
static int shared;

static void* add_to_shared(void* nothing) {
  for (int i = 0; i < 1000; ++i) ++shared;
  return nothing;
}

static long racy(void) {
  pthread_t other;
  pthread_create(&other, NULL, add_to_shared, NULL);
  add_to_shared(NULL);
  pthread_join(other, NULL);
  return shared > 0;
}

static atomic_int second_ends;

static void* second(void* nothing) {
  MPI_Comm self;
  MPI_Request request;
  char byte;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Irecv(&byte, 1, MPI_BYTE, 0, 0, self, &request);
  for (int flag = 0; !second_ends;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&self);
  return nothing;
}

int run_hazard(int argc, char** argv) {
  static const struct {
    const char* name;
    long (*run)(void);
  } hazards[] = {{"forked", forked},
                 {"executed", executed},
                 {"files", files},
                 {"persistent", persistent},
                 {"freed", freed},
                 {"messages", messages},
                 {"quiet", quiet},
                 {"partitioned", partitioned},
                 {"window", window},
                 {"leave", leave},
                 {"give-up", give_up},
                 {"racy", racy},
                 {"lasting", lasting},
                 {"jumped", jumped},
                 {"file-freed", file_freed},
                 {"unstarted", unstarted},
                 {"unstarted-alone", unstarted_alone},
                 {"left", left}};
  int provided;
  const int with_second = argc > 2 && !strcmp(argv[2], "second");
  pthread_t second_thread;
  if (argc > 1 && !strcmp(argv[1], "leave")) atexit(say_who_is_left);
  MPI_Init_thread(&argc, &argv, with_second ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  for (int i = 0; i < COUNT; ++i) out[i] = i % 1000 + rank;
  if (with_second) pthread_create(&second_thread, NULL, second, NULL);
  for (size_t k = 0; argc > 1 && k < sizeof hazards / sizeof *hazards; ++k)
    if (!strcmp(argv[1], hazards[k].name)) printf("rank %d: provided %d: %ld\n", rank, provided, hazards[k].run());
  fflush(stdout);
  second_ends = 1;
  if (with_second) pthread_join(second_thread, NULL);
  MPI_Finalize();
  return 0;
}

#ifndef PLUGIN
int main(int argc, char** argv) { return run_hazard(argc, argv); }
#endif
