/* SPDX-License-Identifier: BSD-3-Clause */
/* late_partner SECONDS [PCONTROL]: does communication move while the partner computes? Rank 1 starts an operation and
 * waits at once; rank 0 starts the same and makes no call of MPI's until it sees in its own memory what rank 1 sent,
 * but for so many seconds at most. Prints, a kind a line, whether it came. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI_4 1
#else
#define HAS_MPI_4 0
#endif

enum { LARGE = 1 << 20 };

static int rank, peer, came;
static double most; /* seconds */
static int outgoing[LARGE], incoming[LARGE];

static void compute_until(const volatile int* place, int wanted) {
  for (const double end = MPI_Wtime() + most; *place != wanted && MPI_Wtime() < end;) {
  }
  came = *place == wanted;
}

/* What both ranks do with requests: rank 0 computes before it waits. */
static void finish_sum(int count, MPI_Request* requests, int ranks) {
  if (rank == 0) compute_until(&incoming[LARGE - 1], ranks * outgoing[LARGE - 1]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void finish(int count, MPI_Request* requests) { finish_sum(count, requests, 1); }

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
  finish_sum(1, &request, 2);
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
static int* memory;
static void passive_target(void) {
  if (rank == 0) return compute_until(&memory[999], outgoing[999]);
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
  if (argc < 2) return 2;
  most = atof(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  MPI_Win_allocate(1000 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  memory[999] = 0;
  if (argc > 2) MPI_Pcontrol(atoi(argv[2]));
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    for (int i = 0; i < LARGE; ++i) outgoing[i] = (int)k + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    kinds[k].run();
    if (rank == 0) printf("rank 0: %s %d\n", kinds[k].name, came);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  fflush(stdout);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
