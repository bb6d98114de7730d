/* SPDX-License-Identifier: BSD-3-Clause */
/* A generalised request as MPICH's library of Fortran makes it: the callbacks are Fortran's, all arguments addresses.
 */
#include <mpi.h>
#include <stdio.h>

void MPII_Grequest_set_lang_f77(MPI_Request request);

static void query(MPI_Aint* state, MPI_Fint* status, MPI_Fint* error) {
  MPI_Status empty;
  MPI_Status_set_elements(&empty, MPI_BYTE, (int)*state);
  MPI_Status_set_cancelled(&empty, 0);
  MPI_Status_c2f(&empty, status);
  *error = MPI_SUCCESS;
}
static void release(MPI_Aint* state, MPI_Fint* error) { *error = *state == 7 ? MPI_SUCCESS : MPI_ERR_OTHER; }
static void cancel(MPI_Aint* state, MPI_Fint* complete, MPI_Fint* error) {
  *error = *state == 7 && *complete != 99 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int main(int argc, char** argv) {
  int rank, bytes = 0;
  MPI_Aint state = 7;
  MPI_Request request;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Grequest_start((MPI_Grequest_query_function*)query, (MPI_Grequest_free_function*)release,
                     (MPI_Grequest_cancel_function*)cancel, &state, &request);
  MPII_Grequest_set_lang_f77(request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  printf("rank %d: %d bytes\n", rank, bytes);
  MPI_Finalize();
  return 0;
}
