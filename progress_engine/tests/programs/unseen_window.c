/* SPDX-License-Identifier: BSD-3-Clause */
/* A window that the engine did not see made (a library took MPI_Win_create from the MPI's own file), freed as usual;
 * then one that it saw made and freed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int is_mpi(struct dl_phdr_info* library, size_t size, void* found) {
  const char* name = strrchr(library->dlpi_name, '/');
  if (size == 0 || !name || strncmp(name, "/libmpi", 7) != 0 || strncmp(name, "/libmpifort", 11) == 0) return 0;
  *(void**)found = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  return dlsym(*(void**)found, "PMPI_Win_create") != NULL;
}

int main(int argc, char** argv) {
  int memory = 0;
  void* library = NULL;
  MPI_Win window;
  int (*create)(void*, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win*) = NULL;
  MPI_Init(&argc, &argv);
  dl_iterate_phdr(is_mpi, &library);
  *(void**)&create = dlsym(library, "PMPI_Win_create");
  if (!create) return 2;
  create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
  MPI_Win_free(&window);
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
  MPI_Win_free(&window);
  puts("rank 0: freed");
  return MPI_Finalize();
}
