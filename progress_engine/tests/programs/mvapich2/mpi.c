/* SPDX-License-Identifier: BSD-3-Clause
 * An MPI of that shape which counts what the driver calls. */
#include <mpi.h>

int mpi_tests = 0, mpi_pending = 0, mpi_communicators = 0;

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  *copy = comm + 0x100;
  ++mpi_communicators;
  return comm == MPI_COMM_SELF ? MPI_SUCCESS : 1;
}
int PMPI_Comm_free(MPI_Comm* comm) {
  *comm = 0;
  --mpi_communicators;
  return MPI_SUCCESS;
}
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  return comm && handler == MPI_ERRORS_RETURN ? MPI_SUCCESS : 1;
}
int PMPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  (void)source;
  (void)tag;
  if (!buffer || count != 1 || type != MPI_BYTE || !comm) return 1;
  *request = 7;
  ++mpi_pending;
  return MPI_SUCCESS;
}
int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  *flag = 0;
  ++mpi_tests;
  return *request == 7 && status == MPI_STATUS_IGNORE ? MPI_SUCCESS : 1;
}
int PMPI_Cancel(MPI_Request* request) {
  --mpi_pending;
  return *request == 7 ? MPI_SUCCESS : 1;
}
int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  (void)status;
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
