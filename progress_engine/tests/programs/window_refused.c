/* SPDX-License-Identifier: BSD-3-Clause */
/* A window on a communicator whose error handler ends the program, or with `returns` does not. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, memory = 0;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm comm;
  MPI_Errhandler kept;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const MPI_Errhandler asked = strcmp(argv[1], "returns") == 0 ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
  MPI_Comm_set_errhandler(comm, asked);
  const int code = MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, comm, &window);
  MPI_Comm_get_errhandler(comm, &kept);
  printf("rank %d: %s, handler %s\n", rank, code == MPI_SUCCESS ? "one" : "none", kept == asked ? "kept" : "lost");
  fflush(stdout);
  if (code == MPI_SUCCESS) MPI_Win_free(&window);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
