/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for the engine's report while MPI ends: in a callback of MPI_Finalize, by its thread and by another one. One
 * rank. With -DSTAND_IN a library to preload below the engine, which asks while MPI begins. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void* ask(void* who) {
  const char* (*json)(void);
  *(void**)&json = dlsym(RTLD_DEFAULT, "pe_report_json");
  const char* report = json ? json() : "";
  printf("rank 0: %s: %s\n", (const char*)who, strstr(report, "MPI begins or ends") ? "no report now" : "a report");
  fflush(stdout);
  return NULL;
}

static void ask_by_another(const char* who) {
  pthread_t other;
  pthread_create(&other, NULL, ask, (void*)who);
  pthread_join(other, NULL);
}

#ifdef STAND_IN
int MPI_Init_thread(int* argc, char*** argv, int asked, int* provided) {
  ask_by_another("another thread, at the beginning");
  return PMPI_Init_thread(argc, argv, asked, provided);
}
#else
static int ask_by_two(MPI_Comm comm, int key, void* attribute, void* extra) {
  (void)comm, (void)key, (void)attribute, (void)extra;
  ask("the thread that ends MPI");
  ask_by_another("another thread, at the end");
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int key;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ask_by_two, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Finalize();
  ask("afterwards");
  return 0;
}
#endif
