/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the signals that are blocked in a process that it spawns. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void print_blocked_signals(void) {
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, "SigBlk:", 7)) printf("%s", line);
  if (status) fclose(status);
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&other);
  if (other != MPI_COMM_NULL)
    print_blocked_signals();
  else
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
  MPI_Comm_disconnect(&other);
  MPI_Finalize();
  return 0;
}
