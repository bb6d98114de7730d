/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload below the engine: an MPI that calls itself what DESCRIPTION says. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int PMPI_Get_library_version(char* text, int* length) {
  strcpy(text, getenv("DESCRIPTION"));
  *length = (int)strlen(text);
  return MPI_SUCCESS;
}
