/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a message moves while something else is pending and the program computes: `polled partitioned` starts a send
 * of which no partition is ready, `polled file` writes to $FILE. Then rank 0 computes until a long message from rank 1
 * is there, for SECONDS at most. Rank 1 sends it once rank 0 is outside MPI, as a file says. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 20, TAG = 3 };
static int message[LONG];
static int value = 7, in;

static void start_partitioned(MPI_Request requests[2]) {
  MPI_Psend_init(&value, 1, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(&in, 1, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
}

static void end(MPI_Request requests[2]) {
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; ++i)
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
}

/* Open MPI's first partitioned operation needs all processes, also of a communicator of one. */
static void send_once_it_computes(const char* what, const char* computes) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (strcmp(what, "partitioned") == 0) {
    start_partitioned(requests);
    MPI_Pready(0, requests[0]);
  }
  for (int i = 0; i < LONG; ++i) message[i] = 1;
  while (access(computes, F_OK) != 0) usleep(1000);
  MPI_Send(message, LONG, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  end(requests);
}

static int moves(const char* computes) {
  const volatile int* last = &message[LONG - 1];
  close(open(computes, O_CREAT | O_WRONLY, 0600));
  for (int i = 0; i < 1000 * atof(getenv("SECONDS")) && !*last; ++i) usleep(1000);
  return *last;
}

static int moves_beside(const char* what, const char* computes) {
  int moved;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, receive;
  MPI_File file = MPI_FILE_NULL;
  MPI_Irecv(message, LONG, MPI_INT, 1, TAG, MPI_COMM_WORLD, &receive);
  if (strcmp(what, "partitioned") == 0) {
    start_partitioned(requests);
    moved = moves(computes);
    MPI_Pready(0, requests[0]);
  } else {
    MPI_File_open(MPI_COMM_SELF, getenv("FILE"), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, &requests[0]);
    moved = moves(computes);
  }
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  end(requests);
  if (file != MPI_FILE_NULL) MPI_File_close(&file);
  return moved;
}

int main(int argc, char** argv) {
  char computes[4096];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(computes, sizeof computes, "%s.computes", getenv("FILE"));
  if (rank == 0)
    printf("rank 0: moved %d\n", moves_beside(argv[1], computes));
  else
    send_once_it_computes(argv[1], computes);
  MPI_Finalize();
  return 0;
}
