// SPDX-License-Identifier: BSD-3-Clause
// Two ranks whose calls wait for known reasons. Each prints by its own clock what it knows of each call site:
//
//   site RANK NAME FUNCTION:LINE count N parts N computed SECONDS waited SECONDS whole SECONDS late SECONDS delay
//   SECONDS
//
// whole: from before the call that starts an operation to behind the one that completes it; of several operations their
// sum, as of what was computed. waited: in the calls that complete them, of which this site has one part. late: of that
// before the partner had called, which sends the time when it does. where.F90 and python_where.py have some.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { bytes = 4 << 20, rounds = 5, many = 8 };

static int rank;
static double computed, waited, whole, late_by, began, waits;

static double now(void) {  // of all processes of a machine, which MPI_Wtime need not be
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// How long this process was ready to run and did not, since it last asked: what stands between two clocks grows by it.
static double delay(void) {
  static double before;
  double ran = 0, waited_ns = 0;
  FILE* file = fopen("/proc/self/schedstat", "r");
  if (!file || fscanf(file, "%lf %lf", &ran, &waited_ns) != 2) abort();
  fclose(file);
  const double since = 1e-9 * waited_ns - before;
  before = 1e-9 * waited_ns;
  return since;
}

static void compute(double seconds, int operations) {
  const double begin = now();
  while (now() - begin < seconds) {
  }
  computed += operations * (now() - begin);
}

static char* stamped(char* message) {
  const double time = now();
  return (char*)memcpy(message, &time, sizeof time);
}

static void start_waiting(void) { waits = now(); }

// `message`: from the partner, or none.
static void end_waiting(int operations, const char* message) {
  const double end = now();
  double theirs = 0;
  if (message) memcpy(&theirs, message, sizeof theirs);
  waited += end - waits;
  whole += operations * (end - began);
  if (theirs > waits) late_by += (theirs < end ? theirs : end) - waits;
}

// Says it where the rank has passed the site.
static void tell(const char* name, const char* function, int line, int count, int parts) {
  if (line > 0)
    printf("site %d %s %s:%d count %d parts %d computed %.9f waited %.9f whole %.9f late %.9f delay %.9f\n", rank, name,
           function, line, count, parts, computed, waited, whole, late_by, delay());
  fflush(stdout);
  computed = waited = whole = late_by = 0;
  MPI_Barrier(MPI_COMM_WORLD);
}

// Both compute while a message is on its way.
static void exchange(char* out, char* in) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[2];
    began = now();
    MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]), line = __LINE__;
    MPI_Isend(stamped(out), bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    compute(0.02, 1);
    start_waiting();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    end_waiting(1, in);
  }
  tell("exchange", __func__, line, rounds, 2);
}

// Rank 0 computes for longer, so that rank 1 waits for it: for a second message, where nobody waits for the first one.
static void late(char* buffer) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request first, second;
    if (rank == 0) {
      MPI_Isend(buffer, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &first);
      MPI_Request_free(&first);
      compute(0.03, 1);
      MPI_Send(stamped(buffer + 8), 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
      continue;
    }
    MPI_Irecv(buffer, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &first);
    began = now();
    MPI_Irecv(buffer + 8, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &second), line = __LINE__;
    compute(0.01, 1);
    start_waiting();
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    end_waiting(1, buffer + 8);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
  }
  tell("late", __func__, line, rounds, 1);
}

// Rank 1 blocks until rank 0 has computed.
static void blocking(char* buffer) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      compute(0.02, 1);
      MPI_Send(stamped(buffer), 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
      continue;
    }
    began = now();
    start_waiting();
    MPI_Recv(buffer, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE), line = __LINE__;
    end_waiting(1, buffer);
  }
  tell("blocking", __func__, line, rounds, 1);
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
    began = now();
    MPI_Start(&request), line = __LINE__;
    compute(0.02, 1);
    int done = 0;
    start_waiting();
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_waiting(1, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);  // inactive by now: nothing is completed
  }
  MPI_Request_free(&request);
  tell("persistent", __func__, line, rounds, 1);
}

// One call waits for many operations: once, for the one that comes last.
static void shared(char* buffer) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      for (int i = 1; i < many; ++i) MPI_Send(buffer, 8, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
      compute(0.03, 1);
      MPI_Send(stamped(buffer), 8, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
      continue;
    }
    MPI_Request requests[many];
    began = now();
    for (int i = 0; i < many; ++i)
      MPI_Irecv(buffer + i * 8, 8, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &requests[i]), line = __LINE__;
    compute(0.01, many);
    start_waiting();
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    end_waiting(many, buffer + (many - 1) * 8);
  }
  tell("shared", __func__, line, many * rounds, 1);
}

// Two waits behind one computation, which hides no more than itself of both: between two nodes they are longer.
static void one_by_one(char* first, char* second) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request requests[2];
    if (rank == 0) {
      for (int i = 0; i < 2; ++i)
        MPI_Isend(i == 0 ? first : second, bytes, MPI_BYTE, 1, 12, MPI_COMM_WORLD, &requests[i]);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      continue;
    }
    began = now();
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(i == 0 ? first : second, bytes, MPI_BYTE, 0, 12, MPI_COMM_WORLD, &requests[i]), line = __LINE__;
    MPI_Barrier(MPI_COMM_WORLD);
    compute(0.02, 2);
    for (int i = 0; i < 2; ++i) {
      start_waiting();
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      end_waiting(1, NULL);
    }
  }
  tell("one_by_one", __func__, line, 2 * rounds, 1);
}

// Tests that find nothing are waiting, too; what is computed between them is computed.
static void some(char* buffer) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      compute(0.01, 1);
      for (int i = 0; i < 2; ++i) MPI_Send(buffer, 8, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
      continue;
    }
    MPI_Request requests[2];
    began = now();
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(buffer + 8 * i, 8, MPI_BYTE, 0, 8, MPI_COMM_WORLD, &requests[i]), line = __LINE__;
    for (int open = 2; open > 0;) {
      int done = 0, which[2];
      compute(0.002, open);
      start_waiting();
      MPI_Testsome(2, requests, &done, which, MPI_STATUSES_IGNORE);
      end_waiting(done, NULL);
      open -= done;
    }
  }
  tell("some", __func__, line, 2 * rounds, 1);
}

// A receive that is cancelled takes no message: the next one of the same kind does.
static void cancelled(char* buffer) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      compute(0.02, 1);
      MPI_Send(stamped(buffer), 8, MPI_BYTE, 1, 9, MPI_COMM_WORLD);
      continue;
    }
    MPI_Request request;
    MPI_Irecv(buffer, 8, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    began = now();
    MPI_Irecv(buffer, 8, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &request), line = __LINE__;
    start_waiting();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_waiting(1, buffer);
  }
  tell("cancelled", __func__, line, rounds, 1);
}

static void collective(void) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);  // else who is done early waits for the next round
    MPI_Request request;
    const int mine = rank;
    int sum = 0;
    began = now();
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), line = __LINE__;
    compute(0.01 + 0.02 * (rank == 0), 1);
    start_waiting();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_waiting(1, NULL);
  }
  tell("collective", __func__, line, rounds, 1);
}

// Rank 0 computes before it takes part, so that rank 1 waits for it.
static void late_collective(void) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    double mine = 0, all[2] = {0, 0};
    MPI_Request request;
    if (rank == 0) {
      compute(0.03, 1);
      stamped((char*)&mine);
      MPI_Iallgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      continue;
    }
    began = now();
    MPI_Iallgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD, &request), line = __LINE__;
    compute(0.01, 1);
    start_waiting();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_waiting(1, (const char*)all);
  }
  tell("late_collective", __func__, line, rounds, 1);
}

#if MPI_VERSION >= 4
static void partitioned(char* buffer) {
  MPI_Request request;
  int line = 0;
  if (rank == 0)
    MPI_Psend_init(buffer, 4, bytes / 4, MPI_BYTE, 1, 10, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else
    MPI_Precv_init(buffer, 4, bytes / 4, MPI_BYTE, 0, 10, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    began = now();
    MPI_Start(&request), line = __LINE__;
    for (int i = 0; rank == 0 && i < 4; ++i) MPI_Pready(i, request);
    compute(0.02, 1);
    start_waiting();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_waiting(1, NULL);
  }
  MPI_Request_free(&request);
  tell("partitioned", __func__, line, rounds, 1);
}

// It sends and receives: rank 1 computes for longer before it begins, so that rank 0 waits.
static void both_ways(char* out, char* in) {
  int line = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) compute(0.03, 1);
    computed = rank == 1 ? 0 : computed;
    MPI_Request request;
    began = now();
    const int other = 1 - rank;
    stamped(out);
    line = __LINE__ + 1;
    MPI_Isendrecv(out, 8, MPI_BYTE, other, 11, in, 8, MPI_BYTE, other, 11, MPI_COMM_WORLD, &request);
    if (rank == 0) compute(0.01, 1);
    start_waiting();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_waiting(1, in);
  }
  tell("both_ways", __func__, line, rounds, 1);
}
#endif

// An epoch: what was put is complete when the window is unlocked.
static void window(char* buffer) {
  char* memory;
  MPI_Win win;
  int line = 0;
  MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int round = 0; round < rounds; ++round) {
    if (rank == 0) {
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      began = now();
      MPI_Put(buffer, 8192, MPI_BYTE, 1, 0, 8192, MPI_BYTE, win), line = __LINE__;
      compute(0.01, 1);
      start_waiting();
      MPI_Win_unlock(1, win);
      end_waiting(1, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  tell("window", __func__, line, rounds, 1);
  line = 0;
  for (int round = 0; round < rounds; ++round) {
    if (rank == 0) {
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      MPI_Put(buffer, 8192, MPI_BYTE, 1, 0, 8192, MPI_BYTE, win);
      MPI_Win_flush_local(1, win);
      start_waiting();
      MPI_Win_unlock(1, win), line = __LINE__;  // what the target still has to take is waited for here
      end_waiting(1, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  tell("unlock", __func__, line, rounds, 1);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* out = (char*)calloc(2, bytes);
  exchange(out, out + bytes);
  late(out);
  blocking(out);
  persistent(out);
  shared(out);
  one_by_one(out, out + bytes);
  some(out);
  cancelled(out);
  collective();
  late_collective();
#if MPI_VERSION >= 4
  partitioned(out);
  both_ways(out, out + bytes);
#endif
  window(out);
  free(out);
  MPI_Finalize();
  return 0;
}
