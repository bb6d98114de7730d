/* SPDX-License-Identifier: BSD-3-Clause */
/* What observer.c, preloaded below the engine, sees of two ranks: `observed started|freed|probed|communicators`.
 * Without it there is nothing to see, and the same is printed as when all is well. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 100, PARTS = 4 };

static int rank, peer;

static int observed(const char* name, int otherwise) {
  int (*ask)(void);
  *(void**)&ask = dlsym(RTLD_DEFAULT, name);
  return ask ? ask() : otherwise;
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static void make(int data[PARTS], MPI_Request* request) {
  if (rank == 0)
    MPI_Psend_init(data, PARTS, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, request);
  else
    MPI_Precv_init(data, PARTS, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, request);
}

static void finish(MPI_Request* request) {
  for (int part = 0; rank == 0 && part < PARTS; ++part) MPI_Pready(part, *request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* A test in vain before each start, while whoever polls for the program sleeps. */
static void started(void) {
  int data[PARTS] = {0}, value = 0, flag = 0;
  MPI_Request request, pending;
  MPI_Irecv(&value, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &pending);
  make(data, &request);
  for (int round = 0; round < ROUNDS; ++round) {
    usleep(2000);
    MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
    MPI_Start(&request);
    usleep(1000);
    finish(&request);
  }
  MPI_Request_free(&request);
  MPI_Send(&rank, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  if (rank == 0) printf("rank 0: %d polls before a partition was ready\n", observed("observed_between", 0));
}

static void freed(void) {
  int data[PARTS] = {0}, looked_at = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Request request;
    make(data, &request);
    MPI_Start(&request);
    finish(&request);
    MPI_Request_free(&request);
    looked_at += observed("observed_since_freed", 1) > 0;
  }
  printf("rank %d: %d of %d freed requests are polled for at once\n", rank, looked_at, ROUNDS);
}
#else
static void started(void) {}
static void freed(void) {}
#endif

/* The MPICH family's probes leave "cancelled" as it was, so it is made known before. */
static MPI_Status not_cancelled(void) {
  MPI_Status status;
  memset(&status, 0, sizeof status);
  MPI_Status_set_cancelled(&status, 0);
  return status;
}

static void probed(void) {
  int value = 0, cancelled = 0, matched_cancelled = 0;
  MPI_Message message;
  MPI_Status status = not_cancelled();
  MPI_Request request;
  MPI_Isend(&rank, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &request);
  MPI_Probe(peer, 3, MPI_COMM_WORLD, &status);
  MPI_Test_cancelled(&status, &cancelled);
  status = not_cancelled();
  MPI_Mprobe(peer, 3, MPI_COMM_WORLD, &message, &status);
  MPI_Test_cancelled(&status, &matched_cancelled);
  MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank %d: received %d, cancelled %d, matched: cancelled %d\n", rank, value, cancelled, matched_cancelled);
}

/* More of them than any cache of single ranks holds: once each was used, the MPI is asked for none of them again. */
static void communicators(void) {
  enum { MANY = 300, WARM = 3 };
  static MPI_Comm all[MANY];
  int out = 1, in = 0, before = 0;
  for (int i = 0; i < MANY; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
  for (int round = 0; round <= WARM; ++round) {
    if (round == WARM) before = observed("observed_translations", 0);
    for (int i = 0; i < MANY; ++i) {
      MPI_Request request;
      MPI_Irecv(&in, 1, MPI_INT, peer, 3, all[i], &request);
      MPI_Send(&out, 1, MPI_INT, peer, 3, all[i]);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  printf("rank %d: asked %d times\n", rank, observed("observed_translations", 0) - before);
  fflush(stdout);
  for (int i = 0; i < MANY; ++i) MPI_Comm_free(&all[i]);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  if (!strcmp(argv[1], "started")) started();
  if (!strcmp(argv[1], "freed")) freed();
  if (!strcmp(argv[1], "probed")) probed();
  if (!strcmp(argv[1], "communicators")) communicators();
  return MPI_Finalize();
}
