/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 calls MPI_Finalize when rank 0 is in the MPI's own, or argv[1] seconds later at most. Each says when it called
 * and when the MPI was called, in microseconds of the machine's clock. With -DSTAND_IN a library to preload below the
 * engine: an MPI that calls itself what DESCRIPTION says; it makes the file $ENTERED when rank 0 has called it. With
 * LINGER rank 1 makes progress until rank 0 has long been in the MPI's own MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long microseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

#ifdef STAND_IN
int PMPI_Get_library_version(char* text, int* length) {
  strcpy(text, getenv("DESCRIPTION"));
  *length = (int)strlen(text);
  return MPI_SUCCESS;
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: called at %s, the MPI at %ld\n", rank, getenv("CALLED_AT"), microseconds());
  fflush(stdout);
  if (rank == 0) fclose(fopen(getenv("ENTERED"), "w"));
  for (const long end = microseconds() + 300000; rank == 1 && getenv("LINGER") && microseconds() < end;) {
    int flag;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  return PMPI_Finalize();
}
#else
int main(int argc, char** argv) {
  int rank;
  char text[32];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; rank == 1 && i < 1000 * atof(argv[1]) && access(getenv("ENTERED"), F_OK) != 0; ++i) usleep(1000);
  snprintf(text, sizeof text, "%ld", microseconds());
  setenv("CALLED_AT", text, 1);
  MPI_Finalize();
  return 0;
}
#endif
