/* SPDX-License-Identifier: BSD-3-Clause
 * The shape of MVAPICH2 2.3's mpi.h as far as the engine's driver sees it: MPI 3.1, handles that are integers, no
 * large-count functions, no streams. */
#ifndef MPI_H
#define MPI_H

#define MVAPICH2_VERSION "2.3.7"
#define MPI_VERSION 3
#define MPI_SUBVERSION 1

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Request;
typedef int MPI_Errhandler;
typedef struct {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;

#define MPI_SUCCESS 0
#define MPI_THREAD_MULTIPLE 3
#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_COMM_SELF ((MPI_Comm)0x44000001)
#define MPI_BYTE ((MPI_Datatype)0x4c00010d)
#define MPI_REQUEST_NULL ((MPI_Request)0x2c000000)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x54000001)
#define MPI_STATUS_IGNORE ((MPI_Status*)1)

#ifdef __cplusplus
extern "C" {
#endif
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
              MPI_Request* request);
int PMPI_Comm_dup(MPI_Comm, MPI_Comm*);
int PMPI_Comm_free(MPI_Comm*);
int PMPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler);
int PMPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int PMPI_Test(MPI_Request*, int*, MPI_Status*);
int PMPI_Cancel(MPI_Request*);
int PMPI_Wait(MPI_Request*, MPI_Status*);
/* For PE_PMPI's spelling only. */
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy);
#ifdef __cplusplus
}
#endif
#endif
