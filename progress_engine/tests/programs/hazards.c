/* SPDX-License-Identifier: BSD-3-Clause */
/* What can go wrong when a second thread drives MPI: `hazards NAME`, two ranks. Each rank prints one line, the same
 * with and without the engine. Built with -DPLUGIN it is a plug-in, whose `run_hazard` is called by host.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 100000, ROUNDS = 150 };

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

int run_hazard(int argc, char** argv) {
  static const struct {
    const char* name;
    long (*run)(void);
  } hazards[] = {{"forked", forked}, {"executed", executed}, {"files", files}, {"persistent", persistent},
                 {"freed", freed},   {"messages", messages}, {"quiet", quiet}};
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  for (int i = 0; i < COUNT; ++i) out[i] = i % 1000 + rank;
  for (size_t k = 0; argc > 1 && k < sizeof hazards / sizeof *hazards; ++k)
    if (!strcmp(argv[1], hazards[k].name)) printf("rank %d: provided %d: %ld\n", rank, provided, hazards[k].run());
  fflush(stdout);
  MPI_Finalize();
  return 0;
}

#ifndef PLUGIN
int main(int argc, char** argv) { return run_hazard(argc, argv); }
#endif
