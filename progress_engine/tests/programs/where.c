// SPDX-License-Identifier: BSD-3-Clause
// Two ranks whose calls wait for known reasons. Each prints by its own clock what it knows of each call site:
//
//   site RANK NAME FUNCTION:LINE count N computed SECONDS waited SECONDS whole SECONDS
//
// whole: from before the call that starts an operation to behind the one that completes it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { bytes = 4 << 20, rounds = 5 };

static int rank;
static double computed, waited, whole;

static void compute(double seconds) {
  const double begin = MPI_Wtime();
  while (MPI_Wtime() - begin < seconds) {
  }
  computed += MPI_Wtime() - begin;
}

// Says it where the rank has passed the site.
static void tell(const char* name, const char* function, int line) {
  if (line > 0)
    printf("site %d %s %s:%d count %d computed %.9f waited %.9f whole %.9f\n", rank, name, function, line, rounds,
           computed, waited, whole);
  fflush(stdout);
  computed = waited = whole = 0;
  MPI_Barrier(MPI_COMM_WORLD);
}

// Both compute while a message is on its way.
static void exchange(char* out, char* in) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[2];
    const double start = MPI_Wtime();
    MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]), line = __LINE__;
    MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    compute(0.02);
    const double begin = MPI_Wtime();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    waited += MPI_Wtime() - begin;
    whole += MPI_Wtime() - start;
  }
  tell("exchange", __func__, line);
}

// Rank 1 waits at once for rank 0, which computes first.
static void late(char* buffer) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      compute(0.02);
      MPI_Send(buffer, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
      continue;
    }
    MPI_Request request;
    const double start = MPI_Wtime();
    MPI_Irecv(buffer, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request), line = __LINE__;
    const double begin = MPI_Wtime();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    waited += MPI_Wtime() - begin;
    whole += MPI_Wtime() - start;
  }
  tell("late", __func__, line);
}

// Rank 1 blocks until rank 0 has computed.
static void blocking(char* buffer) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      compute(0.02);
      MPI_Send(buffer, 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
      continue;
    }
    const double begin = MPI_Wtime();
    MPI_Recv(buffer, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE), line = __LINE__;
    waited += MPI_Wtime() - begin;
  }
  tell("blocking", __func__, line);
}

// The same request again and again; it is tested in between, and is one operation a start.
static void persistent(char* buffer) {
  MPI_Request request;
  int line = 0;
  if (rank == 0)
    MPI_Send_init(buffer, bytes, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &request);
  else
    MPI_Recv_init(buffer, bytes, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &request);
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    MPI_Start(&request), line = __LINE__;
    compute(0.02);
    int done = 0;
    const double begin = MPI_Wtime();
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
    waited += MPI_Wtime() - begin;
    whole += MPI_Wtime() - start;
    MPI_Wait(&request, MPI_STATUS_IGNORE);  // inactive by now: nothing is completed
  }
  MPI_Request_free(&request);
  tell("persistent", __func__, line);
}

// An epoch: what was put is complete when the window is unlocked.
static void window(char* buffer) {
  char* memory;
  MPI_Win win;
  int line = 0;
  MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int round = 0; round < rounds; ++round) {
    if (rank == 0) {
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      const double start = MPI_Wtime();
      MPI_Put(buffer, 8192, MPI_BYTE, 1, 0, 8192, MPI_BYTE, win), line = __LINE__;
      compute(0.01);
      const double begin = MPI_Wtime();
      MPI_Win_unlock(1, win);
      waited += MPI_Wtime() - begin;
      whole += MPI_Wtime() - start;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
  tell("window", __func__, line);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* out = calloc(2, bytes);
  exchange(out, out + bytes);
  late(out);
  blocking(out);
  persistent(out);
  window(out);
  free(out);
  MPI_Finalize();
  return 0;
}
