/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the engine polls while something is pending: `polled partitioned` starts a send of which no partition is
 * ready, `polled file` writes to $FILE, and waits then until the engine has polled, for SECONDS at most. One rank. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long polls(void) {
  const char* (*json)(void);
  *(void**)&json = dlsym(RTLD_DEFAULT, "pe_report_json");
  const char* found = json ? strstr(json(), "\"polls\":") : NULL;
  return found ? atol(found + strlen("\"polls\":")) : 0;
}

/* The poll that runs when this is called may have begun before. */
static int polled(void) {
  const long before = polls();
  for (int i = 0; i < 1000 * atof(getenv("SECONDS")); ++i) {
    if (polls() > before + 1) return 1;
    usleep(1000);
  }
  return 0;
}

int main(int argc, char** argv) {
  int seen, value = 7, in = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_File file = MPI_FILE_NULL;
  MPI_Init(&argc, &argv);
  if (strcmp(argv[1], "partitioned") == 0) {
    MPI_Psend_init(&value, 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(&in, 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    seen = polled();
    MPI_Pready(0, requests[0]);
  } else {
    MPI_File_open(MPI_COMM_SELF, getenv("FILE"), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, &requests[0]);
    seen = polled();
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; ++i)
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  if (file != MPI_FILE_NULL) MPI_File_close(&file);
  printf("rank 0: polled %d\n", seen);
  MPI_Finalize();
  return 0;
}
