/* SPDX-License-Identifier: BSD-3-Clause */
/* Every kind of operation that the engine tracks, two ranks. Each rank prints, a kind a line, a checksum of what
 * arrived and how many operations it started: the same with and without the engine, which must have counted as many. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI_4 1 /* Open MPI 5 calls itself 3.1 and has these */
#else
#define HAS_MPI_4 0
#endif

enum { LARGE = 200000, PARTS = 4 };

static int rank, peer, operations;
static int outgoing[LARGE], incoming[LARGE];
static MPI_Request requests[32];

/* Counts an operation that is started. */
#define START(call) (++operations, check(call, #call))

static void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%.60s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void fill(int seed) {
  for (int i = 0; i < LARGE; ++i) outgoing[i] = seed + rank + i % 7;
  memset(incoming, 0, sizeof incoming);
}

static long sum(void) {
  long total = 0;
  for (int i = 0; i < LARGE; ++i) total += incoming[i];
  return total;
}

static void wait_all(int count) { check(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE), "Waitall"); }

/* All nonblocking collectives; each rank's share is `half` of the buffers. */
static long collectives(void) {
  enum { half = LARGE / 2 };
  const MPI_Comm w = MPI_COMM_WORLD;
  const MPI_Datatype t = MPI_INT;
  const int counts[2] = {half, half}, offsets[2] = {0, half}, bytes[2] = {0, half * (int)sizeof(int)};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  long total = 0;
  for (int kind = 0; kind < 17; ++kind) {
    fill(kind);
    int* const in = incoming;
    int* const out = outgoing;
    MPI_Request* r = &requests[0];
    switch (kind) {
      case 0:
        START(MPI_Ibarrier(w, r));
        break;
      case 1:
        START(MPI_Ibcast(rank == 0 ? out : in, LARGE, t, 0, w, r));
        break;
      case 2:
        START(MPI_Igather(out, half, t, in, half, t, 0, w, r));
        break;
      case 3:
        START(MPI_Igatherv(out, half, t, in, counts, offsets, t, 1, w, r));
        break;
      case 4:
        START(MPI_Iscatter(out, half, t, in, half, t, 0, w, r));
        break;
      case 5:
        START(MPI_Iscatterv(out, counts, offsets, t, in, half, t, 1, w, r));
        break;
      case 6:
        START(MPI_Iallgather(out, half, t, in, half, t, w, r));
        break;
      case 7:
        START(MPI_Iallgatherv(out, half, t, in, counts, offsets, t, w, r));
        break;
      case 8:
        START(MPI_Ialltoall(out, half, t, in, half, t, w, r));
        break;
      case 9:
        START(MPI_Ialltoallv(out, counts, offsets, t, in, counts, offsets, t, w, r));
        break;
      case 10:
        START(MPI_Ialltoallw(out, counts, bytes, types, in, counts, bytes, types, w, r));
        break;
      case 11:
        START(MPI_Ireduce(out, in, LARGE, t, MPI_SUM, 0, w, r));
        break;
      case 12:
        START(MPI_Iallreduce(out, in, LARGE, t, MPI_SUM, w, r));
        break;
      case 13:
        START(MPI_Ireduce_scatter(out, in, counts, t, MPI_SUM, w, r));
        break;
      case 14:
        START(MPI_Ireduce_scatter_block(out, in, half, t, MPI_SUM, w, r));
        break;
      case 15:
        START(MPI_Iscan(out, in, LARGE, t, MPI_SUM, w, r));
        break;
      default:
        START(MPI_Iexscan(out, in, LARGE, t, MPI_SUM, w, r));
        break;
    }
    wait_all(1);
    if (kind != 16 || rank > 0) total += (kind + 1) * sum(); /* rank 0's result of Exscan is undefined */
  }
  return total;
}

/* The neighbourhood's: a ring of two. */
static long neighbours(void) {
  enum { third = LARGE / 4 };
  int dims = 2, periodic = 1;
  const int counts[2] = {third, third}, offsets[2] = {0, third};
  const MPI_Aint bytes[2] = {0, third * (MPI_Aint)sizeof(int)};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Comm ring;
  check(MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periodic, 0, &ring), "Cart_create");
  fill(3);
  START(MPI_Ineighbor_allgather(outgoing, third, MPI_INT, incoming, third, MPI_INT, ring, &requests[0]));
  wait_all(1);
  long total = sum();
  START(MPI_Ineighbor_allgatherv(outgoing, third, MPI_INT, incoming, counts, offsets, MPI_INT, ring, &requests[0]));
  wait_all(1);
  total += sum();
  START(MPI_Ineighbor_alltoall(outgoing, third, MPI_INT, incoming, third, MPI_INT, ring, &requests[0]));
  wait_all(1);
  total += sum();
  START(MPI_Ineighbor_alltoallv(outgoing, counts, offsets, MPI_INT, incoming, counts, offsets, MPI_INT, ring,
                                &requests[0]));
  wait_all(1);
  total += sum();
  START(MPI_Ineighbor_alltoallw(outgoing, counts, bytes, types, incoming, counts, bytes, types, ring, &requests[0]));
  wait_all(1);
  check(MPI_Comm_free(&ring), "Comm_free");
  return total + sum();
}

#if HAS_MPI_4
static long persistent_collectives(void) {
  long total = 0;
  check(MPI_Bcast_init(rank == 0 ? outgoing : incoming, LARGE, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]),
        "Bcast_init");
  check(MPI_Allreduce_init(outgoing, incoming, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]),
        "Allreduce_init");
  check(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]), "Barrier_init");
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 3; ++i) {
      fill(round);
      START(MPI_Start(&requests[i]));
      check(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), "Wait"); /* MPICH 5 hangs in a Waitall with inactive ones */
      total += sum();
    }
  for (int i = 0; i < 3; ++i) check(MPI_Request_free(&requests[i]), "Request_free");
  return total;
}

static long partitioned(void) {
  const int length = LARGE / PARTS;
  long total = 0;
  check(MPI_Psend_init(outgoing, PARTS, length, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]),
        "Psend_init");
  check(MPI_Precv_init(incoming, PARTS, length, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]),
        "Precv_init");
  for (int round = 0; round < 3; ++round) {
    fill(round);
    operations += 2;
    check(MPI_Startall(2, requests), "Startall");
    for (int part = 0; part < PARTS; ++part) check(MPI_Pready(part, requests[0]), "Pready");
    int arrived = 0;
    while (!arrived) check(MPI_Parrived(requests[1], PARTS - 1, &arrived), "Parrived");
    wait_all(2);
    total += sum();
  }
  for (int i = 0; i < 2; ++i) check(MPI_Request_free(&requests[i]), "Request_free");
  return total;
}

static long both_ways(void) {
  fill(5);
  START(MPI_Isendrecv(outgoing, LARGE, MPI_INT, peer, 3, incoming, LARGE, MPI_INT, peer, 3, MPI_COMM_WORLD,
                      &requests[0]));
  wait_all(1);
  START(MPI_Isendrecv_replace(incoming, LARGE, MPI_INT, peer, 3, peer, 3, MPI_COMM_WORLD, &requests[0]));
  wait_all(1);
  return sum();
}
#endif

#if MPI_VERSION >= 4
static long large_counts(void) {
  const MPI_Count count = LARGE;
  fill(6);
  START(MPI_Irecv_c(incoming, count, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]));
  START(MPI_Isend_c(outgoing, count, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]));
  wait_all(2);
  long total = sum();
  START(MPI_Iallreduce_c(outgoing, incoming, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]));
  wait_all(1);
  total += sum();
  check(MPI_Recv_init_c(incoming, count, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]), "Recv_init_c");
  START(MPI_Start(&requests[0]));
  check(MPI_Send_c(outgoing, count, MPI_INT, peer, 1, MPI_COMM_WORLD), "Send_c");
  wait_all(1);
  check(MPI_Request_free(&requests[0]), "Request_free");
  return total + sum();
}
#endif

static MPI_Win window_of(int** memory) {
  MPI_Win window;
  check(MPI_Win_allocate(LARGE * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &window),
        "Win_allocate");
  memset(*memory, 0, LARGE * sizeof(int));
  check(MPI_Barrier(MPI_COMM_WORLD), "Barrier");
  return window;
}

static long windows(void) {
  int* memory;
  MPI_Win window = window_of(&memory);
  fill(1);
  check(MPI_Win_lock_all(0, window), "Win_lock_all");
  START(MPI_Rput(outgoing, LARGE / 2, MPI_INT, peer, 0, LARGE / 2, MPI_INT, window, &requests[0]));
  START(MPI_Raccumulate(outgoing, 100, MPI_INT, peer, LARGE / 2, 100, MPI_INT, MPI_SUM, window, &requests[1]));
  wait_all(2);
  check(MPI_Win_flush(peer, window), "Win_flush");
  START(MPI_Rget(incoming, LARGE / 2, MPI_INT, peer, 0, LARGE / 2, MPI_INT, window, &requests[0]));
  START(MPI_Rget_accumulate(NULL, 0, MPI_INT, incoming + LARGE / 2, 100, MPI_INT, peer, LARGE / 2, 100, MPI_INT,
                            MPI_NO_OP, window, &requests[1]));
  wait_all(2);
  check(MPI_Win_unlock_all(window), "Win_unlock_all");
  check(MPI_Barrier(MPI_COMM_WORLD), "Barrier");
  check(MPI_Win_fence(0, window), "Win_fence");
  check(MPI_Put(outgoing, 1000, MPI_INT, peer, LARGE - 1000, 1000, MPI_INT, window), "Put");
  check(MPI_Win_fence(0, window), "Win_fence");
  long total = sum();
  for (int i = 0; i < LARGE; ++i) total += memory[i];
  check(MPI_Win_free(&window), "Win_free");
  return total;
}

static long files(void) {
  char name[64];
  snprintf(name, sizeof name, "operations-%d.data", rank);
  MPI_File file;
  check(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file),
        "File_open");
  fill(2);
  START(MPI_File_iwrite_at(file, 0, outgoing, LARGE, MPI_INT, &requests[0]));
  wait_all(1);
  START(MPI_File_iread_at(file, 0, incoming, LARGE, MPI_INT, &requests[0]));
  wait_all(1);
  long total = sum();
  check(MPI_File_seek(file, 0, MPI_SEEK_SET), "File_seek");
  START(MPI_File_iwrite(file, outgoing, 1000, MPI_INT, &requests[0]));
  wait_all(1);
  START(MPI_File_iread_at_all(file, 0, incoming, 1000, MPI_INT, &requests[0]));
  wait_all(1);
  check(MPI_File_close(&file), "File_close");
  return total + sum();
}

static int query(void* state, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, *(int*)state);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int release(void* state) { return *(int*)state = -1, MPI_SUCCESS; }
static int cancel(void* state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

static void* complete_later(void* request) {
  usleep(20000);
  MPI_Grequest_complete(*(MPI_Request*)request);
  return NULL;
}

static long generalised(void) {
  int state = 42, elements = 0;
  MPI_Status status;
  pthread_t thread;
  START(MPI_Grequest_start(query, release, cancel, &state, &requests[0]));
  MPI_Request copy = requests[0];
  pthread_create(&thread, NULL, complete_later, &copy);
  check(MPI_Wait(&requests[0], &status), "Wait");
  pthread_join(thread, NULL);
  MPI_Get_elements(&status, MPI_INT, &elements);
  return elements + 1000L * state;
}

static long communicators(void) {
  MPI_Comm copy;
  int one = 1, all = 0;
  START(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[0]));
  wait_all(1);
  START(MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, copy, &requests[0]));
  wait_all(1);
  check(MPI_Comm_free(&copy), "Comm_free");
  return all;
}

/* Whether `list`, words between commas, has `name`. */
static int named(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* word = list; word; word = strchr(word, ',')) {
    word += *word == ',';
    if (!strncmp(word, name, length) && (word[length] == ',' || !word[length])) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    long (*run)(void);
  } kinds[] = {{"collectives", collectives},
               {"neighbours", neighbours},
#if HAS_MPI_4
               {"persistent_collectives", persistent_collectives},
               {"partitioned", partitioned},
               {"both_ways", both_ways},
#endif
#if MPI_VERSION >= 4
               {"large_counts", large_counts},
#endif
               {"windows", windows},
               {"files", files},
               {"generalised", generalised},
               {"communicators", communicators}};
  int provided, total = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    if (argc > 1 && !named(argv[1], kinds[k].name)) continue; /* "collectives,windows": these alone */
    operations = 0;
    const long result = kinds[k].run();
    printf("rank %d: %s %ld, %d operations\n", rank, kinds[k].name, result, operations);
    total += operations;
  }
  printf("rank %d: operations %d\n", rank, total);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
