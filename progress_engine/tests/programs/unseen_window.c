/* SPDX-License-Identifier: BSD-3-Clause */
/* A window that the engine did not see made (a library took MPI_Win_create from the MPI's own file), freed as usual;
 * then one that it saw made and freed, and beside it one of shared memory: how many need progress, as the engine says
 * it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_mpi(struct dl_phdr_info* library, size_t size, void* found) {
  const char* name = strrchr(library->dlpi_name, '/');
  if (size == 0 || !name || strncmp(name, "/libmpi", 7) != 0 || strncmp(name, "/libmpifort", 11) == 0) return 0;
  *(void**)found = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  return dlsym(*(void**)found, "PMPI_Win_create") != NULL;
}

static int users(void) {
  static const char key[] = "\"progress_users\":";
  const char* (*report)(void) = NULL;
  *(void**)&report = dlsym(RTLD_DEFAULT, "pe_report_json");
  const char* found = report ? strstr(report(), key) : NULL;
  return found ? atoi(found + sizeof key - 1) : -1;
}

int main(int argc, char** argv) {
  int memory = 0;
  void* library = NULL;
  void* shared_memory = NULL;
  MPI_Win window, shared;
  int (*create)(void*, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win*) = NULL;
  MPI_Init(&argc, &argv);
  dl_iterate_phdr(is_mpi, &library);
  *(void**)&create = dlsym(library, "PMPI_Win_create");
  if (!create) return 2;
  create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
  MPI_Win_free(&window);
  MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &shared_memory, &shared);
  const int of_shared = users();
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
  MPI_Win_free(&shared);
  const int of_other = users();
  MPI_Win_free(&window);
  printf("rank 0: freed, users %d %d %d\n", of_shared, of_other, users());
  return MPI_Finalize();
}
