// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into miniGhost's ranks: an MPI that adds a wrong number of rank 0, once: in the third sum of three reals.
#include <mpi.h>
#include <stddef.h>

enum { reals = 3, wrong_time = 3 };

static double copy[reals];

/// What is added up in place of `sent`. It stays as it is until the sum is complete.
static const void* summand(const void* sent, int count, MPI_Datatype type) {
  static int times;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0 || sent == MPI_IN_PLACE || count != reals || type != MPI_DOUBLE || ++times != wrong_time) {
    return sent;
  }
  for (size_t i = 0; i < reals; ++i) {
    copy[i] = ((const double*)sent)[i];
  }
  copy[1] += 1;
  return copy;
}

int MPI_Allreduce(const void* sent, void* sum, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  return PMPI_Allreduce(summand(sent, count, type), sum, count, type, operation, comm);
}

int MPI_Iallreduce(const void* sent, void* sum, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                   MPI_Request* request) {
  return PMPI_Iallreduce(summand(sent, count, type), sum, count, type, operation, comm, request);
}
