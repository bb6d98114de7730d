/* SPDX-License-Identifier: BSD-3-Clause */
/* Does communication move while the partner computes? Rank 0 starts an operation and computes for a while; rank 1
 * starts the same and waits at once. Rank 1 prints, a kind a line, how long it waited as a share of rank 0's
 * computation: about 1 where the message moves only within rank 0's MPI calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI_4 1
#else
#define HAS_MPI_4 0
#endif

enum { LARGE = 1 << 20 };
static const double computation = 0.25; /* seconds */

static int rank, peer;
static int outgoing[LARGE], incoming[LARGE];

static void compute(void) {
  for (double end = MPI_Wtime() + computation; MPI_Wtime() < end;) {
  }
}

/* What both ranks do with requests: rank 0 computes before it waits. */
static void finish(int count, MPI_Request* requests) {
  if (rank == 0) compute();
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void point_to_point(void) {
  MPI_Request requests[2];
  MPI_Irecv(incoming, LARGE, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(outgoing, LARGE, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
  finish(2, requests);
}

static void persistent(void) {
  MPI_Request requests[2];
  MPI_Recv_init(incoming, LARGE, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(outgoing, LARGE, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Startall(2, requests);
  finish(2, requests);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

static void collective(void) {
  MPI_Request request;
  MPI_Iallreduce(outgoing, incoming, LARGE, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  finish(1, &request);
}

#if HAS_MPI_4
static void partitioned(void) {
  MPI_Request requests[2];
  MPI_Precv_init(incoming, 1, LARGE, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Psend_init(outgoing, 1, LARGE, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Pready(0, requests[1]);
  finish(2, requests);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}
#endif

/* Rank 1 reaches into rank 0's window: nothing of rank 0's is pending, the window alone is there. */
static MPI_Win window;
static void passive_target(void) {
  if (rank == 0) return compute();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, window);
  MPI_Accumulate(outgoing, 1000, MPI_INT, peer, 0, 1000, MPI_INT, MPI_SUM, window);
  MPI_Win_unlock(peer, window);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"point_to_point", point_to_point},
               {"persistent", persistent},
               {"collective", collective},
#if HAS_MPI_4
               {"partitioned", partitioned},
#endif
               {"passive_target", passive_target}};
  int* memory;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  MPI_Win_allocate(1000 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  if (argc > 1) MPI_Pcontrol(atoi(argv[1]));
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    kinds[k].run();
    if (rank == 1) printf("rank 1: %s %.3f\n", kinds[k].name, (MPI_Wtime() - start) / computation);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  fflush(stdout);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
