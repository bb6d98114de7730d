// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into the ranks of a workload: an MPI, a network or a machine with a fault. Compiled with one of the names
// below defined; what is wrong with each stands above it.
#define _GNU_SOURCE
#include <complex.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#ifdef counted_broadcasts
// The root says at MPI_Finalize how often it began MPI_Ibcast.
static int begun;

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  ++begun;
  return PMPI_Ibcast(buffer, count, type, root, comm, request);
}

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    fprintf(stderr, "%d broadcasts\n", begun);
  }
  return PMPI_Finalize();
}
#endif

#ifdef engine_report
// The one symbol by which a workload knows an engine. The text is ENGINE_REPORT.
const char* pe_report_json(void) { return getenv("ENGINE_REPORT"); }
#endif

#ifdef little_memory
// Each may have 4 GB of address space and no more, as a batch system limits it.
__attribute__((constructor)) static void limit(void) {
  const struct rlimit few = {.rlim_cur = 4000000000, .rlim_max = 4000000000};
  setrlimit(RLIMIT_AS, &few);
}
#endif

#ifdef many_ranks
// An MPI that speaks of as many ranks as MANY_RANKS says.
int MPI_Comm_size(MPI_Comm comm, int* size) {
  (void)comm;
  *size = (int)strtol(getenv("MANY_RANKS"), NULL, 10);
  return MPI_SUCCESS;
}
#endif

#ifdef no_message
// An MPI whose nonblocking messages end the program. It shows that none was used.
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
              MPI_Request* request) {
  abort();
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  abort();
}
#endif

#ifdef swapped_messages
// Of two ranks: an MPI_Alltoallv that turns the first two values of what rank 0 gets from rank 1 around,
// and of what it sends to it: what goes there and back is right again, but not on the way.
static void turn(double complex* values) {
  const double complex first = values[0];
  values[0] = values[1];
  values[1] = first;
}

int MPI_Alltoallv(const void* sent, const int counts[], const int begins[], MPI_Datatype type, void* received,
                  const int received_counts[], const int received_begins[], MPI_Datatype received_type, MPI_Comm comm) {
  static int calls = 0;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int back = calls++ % 2;
  if (rank == 0 && back) {
    turn((double complex*)sent + begins[1]);
  }
  const int result =
      PMPI_Alltoallv(sent, counts, begins, type, received, received_counts, received_begins, received_type, comm);
  if (rank == 0 && !back) {
    turn((double complex*)received + received_begins[1]);
  }
  return result;
}
#endif

#ifdef wrong_application
// An MPI that loses what the last receive brings, and that adds up wrongly. It
// shows that a wrong result is seen.
enum { sums_of_ep = 12 };

static void* received;
static size_t received_bytes;

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  int size = 0;
  PMPI_Type_size(type, &size);
  received = buffer;
  received_bytes = (size_t)count * (size_t)size;
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const int result = PMPI_Waitall(count, requests, statuses);
  if (received != NULL) {
    memset(received, 0, received_bytes);
  }
  received = NULL;
  return result;
}

int MPI_Allreduce(const void* sent, void* sum, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  const int result = PMPI_Allreduce(sent, sum, count, type, operation, comm);
  if (count == sums_of_ep) {
    *(double*)sum *= 1.0001;
  }
  return result;
}
#endif

#ifdef wrong_collective
// An MPI that spoils the last byte that MPI_Iallgather brings.
static unsigned char* last_byte;

int MPI_Iallgather(const void* sent, int count, MPI_Datatype sent_type, void* received, int block,
                   MPI_Datatype received_type, MPI_Comm comm, MPI_Request* request) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  last_byte = (unsigned char*)received + (size_t)block * (size_t)ranks - 1;
  return PMPI_Iallgather(sent, count, sent_type, received, block, received_type, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const int result = PMPI_Wait(request, status);
  if (last_byte != NULL) {
    *last_byte ^= 1;
  }
  last_byte = NULL;
  return result;
}
#endif

#ifdef wrong_kernel
// Of a kernel or of miniGhost: an MPI that changes one value of one message, once, on rank 1:
// a number inside the largest message of several that were started before a wait, the last of those that are as large,
// where numbers (keys or reals) are many. It shows that a wrong result is seen. (Inside, the largest and the last: of
// its first residual MG needs neither edges, nor corners, nor the ghosts below.) With WRONG_CALL=recv only what
// MPI_Recv brings is changed.
enum { fewest = 4 };

static void* awaited;
static int awaited_count;
static MPI_Datatype awaited_type;
static const MPI_Request* awaited_request;
static int done;

static int is_rank_1(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 1;
}

static void spoil(void* values, int count, MPI_Datatype type) {
  const int place = (count / 3) + (count / 97);  // not where a row begins: a grid's boundary is known to its rank
  if (type == MPI_INT32_T) {
    ((int32_t*)values)[place] ^= 1;
  } else if (type == MPI_DOUBLE) {
    ((double*)values)[place] += 1;
  } else if (type == MPI_C_DOUBLE_COMPLEX) {
    ((double complex*)values)[place] += 1;
  }
  done = 1;
}

static int is_many(int count) { return !done && count >= fewest && is_rank_1(); }

static int is_spoiled(int count) { return is_many(count) && getenv("WRONG_CALL") == NULL; }

static void await(void* buffer, int count, MPI_Datatype type, const MPI_Request* request) {
  if (is_spoiled(count) && (awaited == NULL || count >= awaited_count)) {
    awaited = buffer;
    awaited_count = count;
    awaited_type = type;
    awaited_request = request;
  }
}

static void arrived(const MPI_Request requests[], int count) {
  if (awaited != NULL && awaited_request >= requests && awaited_request < requests + count) {
    spoil(awaited, awaited_count, awaited_type);
    awaited = NULL;
  }
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  await(buffer, count, type, request);
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const int result = PMPI_Recv(buffer, count, type, source, tag, comm, status);
  if (is_many(count)) {
    spoil(buffer, count, type);
  }
  return result;
}

int MPI_Sendrecv(const void* sent, int count, MPI_Datatype type, int target, int tag, void* received,
                 int received_count, MPI_Datatype received_type, int source, int received_tag, MPI_Comm comm,
                 MPI_Status* status) {
  const int result = PMPI_Sendrecv(sent, count, type, target, tag, received, received_count, received_type, source,
                                   received_tag, comm, status);
  if (source != MPI_PROC_NULL && is_spoiled(received_count)) {
    spoil(received, received_count, received_type);
  }
  return result;
}

int MPI_Alltoallv(const void* sent, const int counts[], const int begins[], MPI_Datatype type, void* received,
                  const int received_counts[], const int received_begins[], MPI_Datatype received_type, MPI_Comm comm) {
  const int result =
      PMPI_Alltoallv(sent, counts, begins, type, received, received_counts, received_begins, received_type, comm);
  if (is_spoiled(received_counts[0])) {
    spoil(received, received_counts[0], received_type);  // what rank 0 sent stands first
  }
  return result;
}

int MPI_Ialltoallv(const void* sent, const int counts[], const int begins[], MPI_Datatype type, void* received,
                   const int received_counts[], const int received_begins[], MPI_Datatype received_type, MPI_Comm comm,
                   MPI_Request* request) {
  await(received, received_counts[0], received_type, request);
  return PMPI_Ialltoallv(sent, counts, begins, type, received, received_counts, received_begins, received_type, comm,
                         request);
}

int MPI_Alltoall(const void* sent, int count, MPI_Datatype type, void* received, int received_count,
                 MPI_Datatype received_type, MPI_Comm comm) {
  const int result = PMPI_Alltoall(sent, count, type, received, received_count, received_type, comm);
  if (is_spoiled(received_count)) {
    spoil(received, received_count, received_type);
  }
  return result;
}

int MPI_Ialltoall(const void* sent, int count, MPI_Datatype type, void* received, int received_count,
                  MPI_Datatype received_type, MPI_Comm comm, MPI_Request* request) {
  await(received, received_count, received_type, request);
  return PMPI_Ialltoall(sent, count, type, received, received_count, received_type, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const int result = PMPI_Wait(request, status);
  arrived(request, 1);
  return result;
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const int result = PMPI_Waitany(count, requests, index, status);
  if (*index != MPI_UNDEFINED) {
    arrived(requests + *index, 1);
  }
  return result;
}

int MPI_Testall(int count, MPI_Request requests[], int* done_all, MPI_Status statuses[]) {
  const int result = PMPI_Testall(count, requests, done_all, statuses);
  if (*done_all != 0) {
    arrived(requests, count);
  }
  return result;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const int result = PMPI_Waitall(count, requests, statuses);
  arrived(requests, count);
  return result;
}
#endif

#ifdef wrong_message
// An MPI that spoils the last byte of a message now and then. It shows that a wrong
// payload is seen. WRONG_MESSAGE_AFTER says how many large receives are left alone.
enum { smallest_spoiled = 1000 };

static unsigned char* last_byte;

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  last_byte = count >= smallest_spoiled ? (unsigned char*)buffer + count - 1 : NULL;
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  static int received;
  const int result = PMPI_Wait(request, status);
  const char* after = getenv("WRONG_MESSAGE_AFTER");
  if (last_byte != NULL && ++received > (after == NULL ? 0 : atoi(after))) {
    *last_byte ^= 1;
  }
  last_byte = NULL;
  return result;
}
#endif

#ifdef wrong_stream
// A network that spoils the last byte of what comes over TCP now and then. It shows
// that a wrong payload is seen where MPI does not move it. WRONG_STREAM_AFTER says how many large reads are left alone.
enum { smallest_spoiled = 1000 };

ssize_t recv(int socket, void* buffer, size_t length, int flags) {
  static ssize_t (*next)(int, void*, size_t, int);
  static int received;
  if (next == NULL) {
    *(void**)&next = dlsym(RTLD_NEXT, "recv");
  }
  const ssize_t got = next(socket, buffer, length, flags);
  const char* after = getenv("WRONG_STREAM_AFTER");
  if (got >= smallest_spoiled && ++received > (after == NULL ? 0 : atoi(after))) {
    ((unsigned char*)buffer)[got - 1] ^= 1;
  }
  return got;
}
#endif

#ifdef wrong_sum
// Of miniGhost: an MPI that adds a wrong number of rank 0, once: in the third sum of three reals.
enum { reals = 3, wrong_time = 3 };

static double copy[reals];

/// What is added up in place of `sent`. It stays as it is until the sum is complete.
static const void* summand(const void* sent, int count, MPI_Datatype type) {
  static int times;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0 || sent == MPI_IN_PLACE || count != reals || type != MPI_DOUBLE || ++times != wrong_time) {
    return sent;
  }
  for (size_t i = 0; i < reals; ++i) {
    copy[i] = ((const double*)sent)[i];
  }
  copy[1] += 1;
  return copy;
}

int MPI_Allreduce(const void* sent, void* sum, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  return PMPI_Allreduce(summand(sent, count, type), sum, count, type, operation, comm);
}

int MPI_Iallreduce(const void* sent, void* sum, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                   MPI_Request* request) {
  return PMPI_Iallreduce(summand(sent, count, type), sum, count, type, operation, comm, request);
}
#endif

#ifdef wrong_window
// An MPI that changes one bit of the third operation on a window: of what it sends, or of what it brings.
enum { spoiled = 3 };

static int operation;
static unsigned char* brought;

/// What is sent in place of `sent`.
static const void* other(const void* sent) {
  static unsigned char copy[8];
  if (++operation != spoiled) {
    return sent;
  }
  memcpy(copy, sent, sizeof copy);
  copy[0] ^= 1;
  return copy;
}

static void brings(void* memory) { brought = ++operation == spoiled ? memory : NULL; }

static void turn(void) {
  if (brought != NULL) {
    *brought ^= 1;
  }
  brought = NULL;
}

int MPI_Put(const void* sent, int count, MPI_Datatype type, int target, MPI_Aint place, int there, MPI_Datatype its,
            MPI_Win window) {
  return PMPI_Put(other(sent), count, type, target, place, there, its, window);
}

int MPI_Rput(const void* sent, int count, MPI_Datatype type, int target, MPI_Aint place, int there, MPI_Datatype its,
             MPI_Win window, MPI_Request* request) {
  return PMPI_Rput(other(sent), count, type, target, place, there, its, window, request);
}

int MPI_Accumulate(const void* sent, int count, MPI_Datatype type, int target, MPI_Aint place, int there,
                   MPI_Datatype its, MPI_Op op, MPI_Win window) {
  return PMPI_Accumulate(other(sent), count, type, target, place, there, its, op, window);
}

int MPI_Fetch_and_op(const void* sent, void* got, MPI_Datatype type, int target, MPI_Aint place, MPI_Op op,
                     MPI_Win window) {
  return PMPI_Fetch_and_op(other(sent), got, type, target, place, op, window);
}

int MPI_Compare_and_swap(const void* sent, const void* expected, void* got, MPI_Datatype type, int target,
                         MPI_Aint place, MPI_Win window) {
  return PMPI_Compare_and_swap(other(sent), expected, got, type, target, place, window);
}

int MPI_Get(void* got, int count, MPI_Datatype type, int target, MPI_Aint place, int there, MPI_Datatype its,
            MPI_Win window) {
  brings(got);
  return PMPI_Get(got, count, type, target, place, there, its, window);
}

int MPI_Rget(void* got, int count, MPI_Datatype type, int target, MPI_Aint place, int there, MPI_Datatype its,
             MPI_Win window, MPI_Request* request) {
  brings(got);
  return PMPI_Rget(got, count, type, target, place, there, its, window, request);
}

int MPI_Win_flush(int rank, MPI_Win window) {
  const int result = PMPI_Win_flush(rank, window);
  turn();
  return result;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const int result = PMPI_Wait(request, status);
  turn();
  return result;
}
#endif

#ifdef wrong_partition
// An MPI that spoils a byte of the last part of a partitioned message, or of the last of several.
static unsigned char* last_byte;

int MPI_Precv_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
  last_byte = (unsigned char*)buffer + ((size_t)partitions * (size_t)count) - 1;
  return PMPI_Precv_init(buffer, partitions, count, type, source, tag, comm, info, request);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  last_byte = count > 0 ? (unsigned char*)buffer + count - 1 : NULL;
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const int result = PMPI_Waitall(count, requests, statuses);
  if (last_byte != NULL) {
    *last_byte ^= 1;
  }
  return result;
}
#endif

#ifdef wrong_neighbour
// An MPI that spoils the first byte that MPI_Ineighbor_alltoallv brings.
static unsigned char* brought;

int MPI_Ineighbor_alltoallv(const void* sent, const int counts[], const int begins[], MPI_Datatype type, void* received,
                            const int received_counts[], const int received_begins[], MPI_Datatype received_type,
                            MPI_Comm comm, MPI_Request* request) {
  brought = (unsigned char*)received;
  return PMPI_Ineighbor_alltoallv(sent, counts, begins, type, received, received_counts, received_begins, received_type,
                                  comm, request);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const int result = PMPI_Waitall(count, requests, statuses);
  if (brought != NULL) {
    *brought ^= 1;
  }
  brought = NULL;
  return result;
}
#endif
