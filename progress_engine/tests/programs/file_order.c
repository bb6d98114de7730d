/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations of one file, several pending at once: what each of four ranks writes, and reads again. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { AT_ONCE = 4, COUNT = 4096, TIMES = 5 };
static int out[AT_ONCE][COUNT], in[AT_ONCE][COUNT];

int main(int argc, char** argv) {
  int rank, size, wrong = 0;
  MPI_File file;
  MPI_Request requests[AT_ONCE];
  MPI_Datatype strided;
  MPI_Info info;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable"); /* the two phases that exchange data between processes */
  MPI_Info_set(info, "romio_cb_read", "enable");
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file);
  MPI_Type_vector(COUNT, 1, size, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, strided, "native", MPI_INFO_NULL);
  for (int k = 0; k < TIMES; ++k) {
    for (int i = 0; i < AT_ONCE; ++i)
      for (int j = 0; j < COUNT; ++j) out[i][j] = k + rank + i * COUNT + j;
    memset(in, 0, sizeof in);
    for (int i = 0; i < AT_ONCE; ++i)
      MPI_File_iwrite_at_all(file, i * (MPI_Offset)COUNT, out[i], COUNT, MPI_INT, &requests[i]);
    MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < AT_ONCE; ++i)
      MPI_File_iread_at_all(file, i * (MPI_Offset)COUNT, in[i], COUNT, MPI_INT, &requests[i]);
    for (int i = AT_ONCE; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    wrong += memcmp(in, out, sizeof in) != 0;
  }
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Type_free(&strided);
  MPI_Info_free(&info);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
