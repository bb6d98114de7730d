// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into two ranks: an MPI_Alltoallv that turns the first two values of what rank 0 gets from rank 1 around,
// and of what it sends to it: what goes there and back is right again, but not on the way.
#include <complex.h>
#include <mpi.h>

static void turn(double complex* values) {
  const double complex first = values[0];
  values[0] = values[1];
  values[1] = first;
}

int MPI_Alltoallv(const void* sent, const int counts[], const int begins[], MPI_Datatype type, void* received,
                  const int received_counts[], const int received_begins[], MPI_Datatype received_type, MPI_Comm comm) {
  static int calls = 0;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int back = calls++ % 2;
  if (rank == 0 && back) {
    turn((double complex*)sent + begins[1]);
  }
  const int result =
      PMPI_Alltoallv(sent, counts, begins, type, received, received_counts, received_begins, received_type, comm);
  if (rank == 0 && !back) {
    turn((double complex*)received + received_begins[1]);
  }
  return result;
}
