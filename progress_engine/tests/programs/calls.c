/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that make certain calls. Of -DCASE=NAME is made the one whose main is the function NAME. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* Rank 0 waits for a large message and computes, without a call of MPI's, until it sees it; rank 1 sends it a moment
 * later. In 20 seconds at most: without an engine it never comes. */
enum { INTEGERS = 1 << 21 };
static const double most = 20; /* seconds */
static const double moment = 0.1;

static volatile int message[INTEGERS];

/* `to` and `from` are the ranks of 0 and 1 in `comm`. */
static void see_it_come(const char* name, MPI_Comm comm, int to, int from) {
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    message[INTEGERS - 1] = 0;
    MPI_Irecv((void*)message, INTEGERS, MPI_INT, from, 1, comm, &request);
    const double end = MPI_Wtime() + most;
    while (message[INTEGERS - 1] != 17 && MPI_Wtime() < end) continue;
    printf("rank 0: %s %d\n", name, message[INTEGERS - 1] == 17);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (message[INTEGERS - 1] != 17) printf("rank 0: %s wrong\n", name);
    return;
  }
  message[INTEGERS - 1] = 17;
  for (const double end = MPI_Wtime() + moment; MPI_Wtime() < end;) continue;
  MPI_Isend((void*)message, INTEGERS, MPI_INT, to, 1, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int doorbell(int argc, char** argv) {
  MPI_Comm reversed;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  see_it_come("first", MPI_COMM_WORLD, 0, 1); /* connections are made, neighbours found */
  see_it_come("world", MPI_COMM_WORLD, 0, 1);
  see_it_come("reversed", reversed, 1, 0);
  fflush(stdout);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}

/* Rank 0 computes, without a call of MPI's, with something pending or a window open; rank 1 calls what returns only
 * when rank 0's process has answered: its engine, or the program when it calls MPI again. */
enum { LARGE = 1 << 20, TIMES = 10 };
static const double computation = 0.1; /* seconds */

static char mine[LARGE], others[LARGE];
static MPI_Win window = MPI_WIN_NULL;

static void block_in(const char* call) {
  const MPI_Comm all = MPI_COMM_WORLD;
  if (strcmp(call, "send") == 0) MPI_Send(mine, LARGE, MPI_CHAR, 0, 1, all);
  if (strcmp(call, "ssend") == 0) MPI_Ssend(mine, LARGE, MPI_CHAR, 0, 1, all);
  if (strcmp(call, "rsend") == 0) MPI_Rsend(mine, LARGE, MPI_CHAR, 0, 1, all);
  if (strcmp(call, "recv") == 0) MPI_Recv(others, LARGE, MPI_CHAR, 0, 1, all, MPI_STATUS_IGNORE);
  if (strcmp(call, "sendrecv") == 0)
    MPI_Sendrecv(mine, LARGE, MPI_CHAR, 0, 1, others, LARGE, MPI_CHAR, 0, 1, all, MPI_STATUS_IGNORE);
  if (strcmp(call, "replace") == 0) MPI_Sendrecv_replace(mine, LARGE, MPI_CHAR, 0, 1, 0, 1, all, MPI_STATUS_IGNORE);
  if (window == MPI_WIN_NULL) return;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  if (strcmp(call, "put") == 0) MPI_Put(mine, LARGE, MPI_CHAR, 0, 0, LARGE, MPI_CHAR, window);
  if (strcmp(call, "get") == 0) MPI_Get(others, LARGE, MPI_CHAR, 0, 0, LARGE, MPI_CHAR, window);
  MPI_Win_flush(0, window);
  MPI_Win_unlock(0, window);
}

static void compute_beside(const char* call) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  const int exchanges = strcmp(call, "sendrecv") == 0 || strcmp(call, "replace") == 0;
  const int sends = exchanges || strcmp(call, "recv") == 0;
  const int receives = exchanges || (!sends && window == MPI_WIN_NULL);
  if (receives) MPI_Irecv(others, LARGE, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[0]);
  if (sends) MPI_Isend(mine, LARGE, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (const double end = MPI_Wtime() + computation; MPI_Wtime() < end;) continue;
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static int blocking(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* call = argv[1];
  if (strcmp(call, "put") == 0 || strcmp(call, "get") == 0)
    MPI_Win_create(others, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (strcmp(call, "lock") == 0) {
    void* memory = NULL;
    MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  }
  for (int i = 0; i < TIMES; ++i) {
    if (rank == 0)
      compute_beside(call);
    else {
      MPI_Barrier(MPI_COMM_WORLD);
      block_in(call);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("rank %d: done\n", rank);
  fflush(stdout);
  if (window != MPI_WIN_NULL) MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}

/* Blocking collective calls, each several times, of a program at the thread level LEVEL (a number): `collectives
 * LEVEL`. A line a rank with a checksum of what arrived, in which the order of a sum's terms shows. */
enum { COUNT = 20000, MOST_RANKS = 8, ROUNDS = 3 };

static double sent[COUNT * MOST_RANKS], arrived[COUNT * MOST_RANKS];
static int counts[MOST_RANKS], offsets[MOST_RANKS];
static uint64_t checksum = 14695981039346656037U; /* FNV-1a */

static void note(void) {
  const unsigned char* bytes = (const unsigned char*)arrived;
  for (size_t i = 0; i < sizeof arrived; ++i) checksum = (checksum ^ bytes[i]) * 1099511628211U;
  memset(arrived, 0, sizeof arrived);
}

static void all_of_them(MPI_Comm comm) {
  const MPI_Datatype d = MPI_DOUBLE;
  MPI_Barrier(comm);
  if (rank == 0) memcpy(arrived, sent, sizeof *arrived * COUNT);
  MPI_Bcast(arrived, COUNT, d, 0, comm), note();
  MPI_Gather(sent, COUNT, d, arrived, COUNT, d, 0, comm), note();
  MPI_Gatherv(sent, COUNT, d, arrived, counts, offsets, d, 0, comm), note();
  MPI_Scatter(sent, COUNT, d, arrived, COUNT, d, 0, comm), note();
  MPI_Scatterv(sent, counts, offsets, d, arrived, COUNT, d, 0, comm), note();
  MPI_Allgather(sent, COUNT, d, arrived, COUNT, d, comm), note();
  MPI_Allgatherv(sent, COUNT, d, arrived, counts, offsets, d, comm), note();
  MPI_Alltoall(sent, COUNT, d, arrived, COUNT, d, comm), note();
  MPI_Alltoallv(sent, counts, offsets, d, arrived, counts, offsets, d, comm), note();
  MPI_Reduce(sent, arrived, COUNT, d, MPI_SUM, 0, comm), note();
  MPI_Allreduce(sent, arrived, COUNT, d, MPI_SUM, comm), note();
  MPI_Reduce_scatter(sent, arrived, counts, d, MPI_SUM, comm), note();
  MPI_Reduce_scatter_block(sent, arrived, COUNT, d, MPI_SUM, comm), note();
  MPI_Scan(sent, arrived, COUNT, d, MPI_SUM, comm), note();
  MPI_Exscan(sent, arrived, COUNT, d, MPI_SUM, comm), note();
}

static int collectives(int argc, char** argv) {
  int provided = 0;
  MPI_Comm comm;
  MPI_Init_thread(&argc, &argv, atoi(argv[1]), &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MOST_RANKS) return 2;
  for (int i = 0; i < COUNT * MOST_RANKS; ++i) sent[i] = 1.0 / (1 + i + 7 * rank);
  for (int i = 0; i < size; ++i) counts[i] = COUNT, offsets[i] = i * COUNT;
  for (int round = 0; round < ROUNDS; ++round) {
    all_of_them(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all_of_them(comm);
    MPI_Comm_free(&comm);
  }
  printf("rank %d: %016llx\n", rank, (unsigned long long)checksum);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}

/* Requests from C to Fortran and back, by the functions of that name, which the engine has even where the MPI has them
 * as macros alone; and by those of the standard's ABI, of an MPI that has them. Prints one line a rank. */
/* Whether each comes back, by the functions of these names; also where the MPI has none. */
static int come_back(MPI_Request live, const char* there, const char* back) {
  int (*to_fortran)(MPI_Request) = (int (*)(MPI_Request))dlsym(RTLD_DEFAULT, there);
  MPI_Request (*to_c)(int) = (MPI_Request (*)(int))dlsym(RTLD_DEFAULT, back);
  if (!to_fortran || !to_c) return !to_fortran && !to_c;
  return to_c(to_fortran(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL && to_c(to_fortran(live)) == live;
}

static int request_handles(int argc, char** argv) {
  int value;
  MPI_Request live;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &live);
#ifdef MPI_ABI_VERSION
  const int same = dlsym(RTLD_DEFAULT, "MPI_Request_toint") != NULL &&
#else
  const int same = dlsym(RTLD_DEFAULT, "MPI_Request_c2f") != NULL &&
                   come_back(live, "MPI_Request_c2f", "MPI_Request_f2c") &&
#endif
                   come_back(live, "MPI_Request_toint", "MPI_Request_fromint");
  printf("rank %d: requests %s\n", rank, same ? "are the same again" : "are lost");
  MPI_Cancel(&live);
  MPI_Wait(&live, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}

/* A window that the engine did not see made (a library took MPI_Win_create from the MPI's own file), freed as usual;
 * then one that it saw made and freed, and beside it one of shared memory: how many need progress, as the engine says
 * it. */
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

static int unseen_window(int argc, char** argv) {
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

int main(int argc, char** argv) { return CASE(argc, argv); }
