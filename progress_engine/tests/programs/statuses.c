// SPDX-License-Identifier: BSD-3-Clause
// What each completing call writes into a status: one line a call of rank 0, for a process with itself; and blocking
// calls with the last rank, too. A field that the call left alone still holds what stood there before.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 3 };

static int value, received, rank, partner;

static MPI_Status fresh(void) {
  MPI_Status status;
  memset(&status, 0x55, sizeof status);
  return status;
}

// For probes: whether something was cancelled they leave as it was in the MPICH family.
static MPI_Status fresh_but_not_cancelled(void) {
  MPI_Status status = fresh();
  MPI_Status_set_cancelled(&status, 0);
  return status;
}

static void say(const char* call, MPI_Status status) {
  const int kept = fresh().MPI_ERROR;
  int count = 0;
  int cancelled = 0;
  if (rank != 0) return;
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &cancelled);
  printf("%s: %s source, %s tag, count %d, cancelled %d, error %s\n", call,
         status.MPI_SOURCE == MPI_ANY_SOURCE ? "any" : (status.MPI_SOURCE == partner ? "right" : "wrong"),
         status.MPI_TAG == MPI_ANY_TAG ? "any" : (status.MPI_TAG == TAG ? "right" : "wrong"), count, cancelled != 0,
         status.MPI_ERROR == kept ? "kept" : (status.MPI_ERROR == MPI_SUCCESS ? "success" : "other"));
}

// A receive, and the send that it gets.
static MPI_Request receive(void) {
  MPI_Request pair[2];
  MPI_Irecv(&received, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &pair[0]);
  MPI_Isend(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &pair[1]);
  MPI_Wait(&pair[1], MPI_STATUS_IGNORE);
  return pair[0];
}

static MPI_Request partitioned(void) {
  MPI_Request pair[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
#if MPI_VERSION >= 4
  MPI_Precv_init(&received, 1, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_INFO_NULL, &pair[0]);
  MPI_Psend_init(&value, 1, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_INFO_NULL, &pair[1]);
  MPI_Startall(2, pair);
  MPI_Pready(0, pair[1]);
  MPI_Wait(&pair[1], MPI_STATUS_IGNORE);
  MPI_Request_free(&pair[1]);
#endif
  return pair[0];
}

static int know(void* state, MPI_Status* status) {
  status->MPI_SOURCE = *(int*)state;
  status->MPI_TAG = TAG;
  MPI_Status_set_elements(status, MPI_INT, 5);
  return MPI_Status_set_cancelled(status, 0);
}

static int nothing_to_free(void* state) { return state ? MPI_SUCCESS : MPI_ERR_OTHER; }

static int nothing_to_cancel(void* state, int complete) { return state || complete ? MPI_SUCCESS : MPI_ERR_OTHER; }

// A complete one. Its status is that which its own function gives, and no operation's before it.
static MPI_Request generalised(void) {
  MPI_Request request = receive();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Grequest_start(know, nothing_to_free, nothing_to_cancel, &partner, &request);
  MPI_Grequest_complete(request);
  return request;
}

static MPI_Request none(void) { return MPI_REQUEST_NULL; }

static MPI_Request inactive(void) {
  MPI_Request request;
  MPI_Recv_init(&received, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &request);
  return request;
}

// Each completing call on `request`: `make` gives it anew.
static void complete_each_way(const char* what, MPI_Request (*make)(void)) {
  char name[64];
  MPI_Status status;
  MPI_Request request;
  int done = 0;
  int index = 0;
#define TRY(function, ...)                                                \
  request = make();                                                       \
  do {                                                                    \
    status = fresh();                                                     \
    done = 1;                                                             \
    function(__VA_ARGS__);                                                \
  } while (done == 0);                                                    \
  snprintf(name, sizeof name, "%s, %s", #function, what);                 \
  say(name, status);                                                      \
  if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE); \
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request)
  TRY(MPI_Wait, &request, &status);
  TRY(MPI_Test, &request, &done, &status);
  TRY(MPI_Waitall, 1, &request, &status);
  if (make == partitioned) return;  // MPICH's MPI_Testall takes what stood in the status for its error
  TRY(MPI_Testall, 1, &request, &done, &status);
  TRY(MPI_Waitany, 1, &request, &index, &status);
  TRY(MPI_Testany, 1, &request, &index, &done, &status);
  TRY(MPI_Request_get_status, request, &done, &status);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  TRY(MPI_Request_get_status_all, 1, &request, &done, &status);
  TRY(MPI_Request_get_status_any, 1, &request, &index, &done, &status);
#endif
  if (make == none || make == inactive) return;  // the next ones write no status where nothing is active
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  TRY(MPI_Request_get_status_some, 1, &request, &done, &index, &status);
#endif
  TRY(MPI_Waitsome, 1, &request, &done, &index, &status);
  TRY(MPI_Testsome, 1, &request, &done, &index, &status);
#undef TRY
}

// MPICH 4.0's nonblocking forms of these leave zeros, or never end.
static void exchange_with_nobody(void) {
  MPI_Status status = fresh();
  MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_PROC_NULL, TAG, MPI_COMM_SELF, &status);
  say("MPI_Sendrecv_replace, nobody", status);
  status = fresh();
  MPI_Recv(&received, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_SELF, &status);
  say("MPI_Recv, nobody", status);
}

// Between rank 0 and the last one.
static void blocking_calls(const char* with, MPI_Comm comm) {
  char name[64];
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
#define SAY_FROM(first, function, ...)                    \
  status = first;                                         \
  function(__VA_ARGS__);                                  \
  snprintf(name, sizeof name, "%s, %s", #function, with); \
  say(name, status)
#define SAY(function, ...) SAY_FROM(fresh(), function, __VA_ARGS__)
#define SAY_OF_PROBE(function, ...) SAY_FROM(fresh_but_not_cancelled(), function, __VA_ARGS__)
  SAY(MPI_Sendrecv_replace, &value, 1, MPI_INT, partner, TAG, partner, TAG, comm, &status);
  SAY(MPI_Sendrecv, &value, 1, MPI_INT, partner, TAG, &received, 1, MPI_INT, partner, TAG, comm, &status);
  for (int i = 0; i < 2; ++i) {
    MPI_Isend(&value, 1, MPI_INT, partner, TAG, comm, &request);
    if (i == 0) {
      SAY_OF_PROBE(MPI_Probe, partner, TAG, comm, &status);
      SAY(MPI_Recv, &received, 1, MPI_INT, partner, TAG, comm, &status);
    } else {
      SAY_OF_PROBE(MPI_Mprobe, partner, TAG, comm, &message, &status);
      SAY(MPI_Mrecv, &received, 1, MPI_INT, &message, &status);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
#undef SAY
#undef SAY_OF_PROBE
#undef SAY_FROM
}

int main(int argc, char** argv) {
  int size = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  complete_each_way("a receive", receive);
  complete_each_way("a generalised request", generalised);
  complete_each_way("no request", none);
  complete_each_way("an inactive request", inactive);
  if (MPI_VERSION >= 4) complete_each_way("a partitioned receive", partitioned);
  exchange_with_nobody();
  blocking_calls("itself", MPI_COMM_SELF);
  partner = size - 1 - rank;
  if (rank == 0 || rank == size - 1) blocking_calls("a partner", MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
