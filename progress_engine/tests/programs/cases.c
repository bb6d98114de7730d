/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of some lines each. Of -DCASE=NAME is made the one whose main is the function NAME. */
#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

static void compute(double seconds) {
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
  }
}

/* Ranks pass a message around and end without MPI_Finalize, as osu_latency_mt does; with "forks" after a child of each
 * has ended so. */
static int unended(int argc, char** argv) {
  int received = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &received, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("rank %d: received %d\n", rank, received);
  fflush(stdout);
  if (argc > 1) {
    const pid_t child = fork();
    if (child == 0) exit(0);
    waitpid(child, NULL, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

/* MPI_Finalize is called at exit, by a handler that was registered before MPI_Init, and after a last exchange there. */
static void pass_around(const char* when) {
  int received = -1;
  MPI_Request requests[2];
  MPI_Irecv(&received, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  printf("rank %d: %s %d\n", rank, when, received);
}

static void finalize(void) {
  pass_around("at exit");
  MPI_Finalize();
  printf("rank %d: ended\n", rank);
  fflush(stdout);
}

static int late_finalize(int argc, char** argv) {
  atexit(finalize);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pass_around("before");
  return 0;
}

/* What libraries clean up with: an attribute of MPI_COMM_SELF, whose callback MPI_Finalize calls first (MPI 4.1,
 * section 11.2.4). It may make any call; here it sends a message to the other rank and waits for the answer. Two ranks.
 */
static MPI_Comm copy;

static int clean_up(MPI_Comm comm, int key, void* attribute, void* extra) {
  (void)comm, (void)key, (void)attribute, (void)extra;
  int outgoing = 10 + rank, incoming = -1, sum = 0;
  MPI_Request requests[2];
  MPI_Irecv(&incoming, 1, MPI_INT, 1 - rank, 0, copy, &requests[0]);
  MPI_Isend(&outgoing, 1, MPI_INT, 1 - rank, 0, copy, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Allreduce(&incoming, &sum, 1, MPI_INT, MPI_SUM, copy);
  printf("rank %d: received %d, in all %d\n", rank, incoming, sum);
  fflush(stdout);
  return MPI_Comm_free(&copy);
}

static int self_attribute(int argc, char** argv) {
  int key;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Finalize();
  return 0;
}

/* MPI_Comm_spawn: one rank spawns a child, by the command line's words (this program, or what starts it), exchanges
 * messages with it while both compute, and prints what arrived. */
enum { LARGE = 300000 };
static int to_child[LARGE], from_child[LARGE];

static long exchange_with(MPI_Comm other, int seed) {
  MPI_Request requests[2];
  long total = 0;
  for (int i = 0; i < LARGE; ++i) to_child[i] = seed + i % 7;
  MPI_Irecv(from_child, LARGE, MPI_INT, 0, 1, other, &requests[0]);
  MPI_Isend(to_child, LARGE, MPI_INT, 0, 1, other, &requests[1]);
  compute(0.02);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < LARGE; ++i) total += from_child[i];
  return total;
}

static int spawn(int argc, char** argv) {
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&other);
  if (other != MPI_COMM_NULL) {
    exchange_with(other, 10);
  } else {
    MPI_Comm_spawn(argv[1], argc > 2 ? &argv[2] : MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
    printf("rank 0: %ld\n", exchange_with(other, 20));
  }
  fflush(stdout);
  MPI_Comm_disconnect(&other);
  MPI_Finalize();
  return 0;
}

/* Prints the signals that are blocked in a process that it spawns. */
static void print_blocked_signals(void) {
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, "SigBlk:", 7)) printf("%s", line);
  if (status) fclose(status);
  fflush(stdout);
}

static int signal_mask(int argc, char** argv) {
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&other);
  if (other != MPI_COMM_NULL)
    print_blocked_signals();
  else
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
  MPI_Comm_disconnect(&other);
  MPI_Finalize();
  return 0;
}

/* Sends to ranks that there are not, on a communicator whose error handler makes a success of them. */
static int handled;

static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static int wrong_rank(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Errhandler counting;
  MPI_Comm_create_errhandler(count_error, &counting);
  MPI_Comm_set_errhandler(comm, counting);
  MPI_Request request = MPI_REQUEST_NULL;
  for (int wrong = size; wrong < size + 3; ++wrong) {
    MPI_Send(&value, 1, MPI_INT, wrong, 0, comm);
    MPI_Isend(&value, 1, MPI_INT, wrong, 0, comm, &request);
  }
  printf("rank %d: handled %d\n", rank, handled);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}

/* A window on a communicator whose error handler ends the program, or with `returns` does not. */
static int window_refused(int argc, char** argv) {
  int memory = 0;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm comm;
  MPI_Errhandler kept;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const MPI_Errhandler asked = strcmp(argv[1], "returns") == 0 ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
  MPI_Comm_set_errhandler(comm, asked);
  const int code = MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, comm, &window);
  MPI_Comm_get_errhandler(comm, &kept);
  printf("rank %d: %s, handler %s\n", rank, code == MPI_SUCCESS ? "one" : "none", kept == asked ? "kept" : "lost");
  fflush(stdout);
  if (code == MPI_SUCCESS) MPI_Win_free(&window);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}

/* Persistent operations with MPI_PROC_NULL: two at once, and each beside a receive that is pending. One rank. */
enum { KINDS = 5, ROUNDS = 2 };
static char room[1024];

static int value;

static void prepare(MPI_Request requests[KINDS]) {
  MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Ssend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Rsend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Bsend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[4]);
}

static int to_nobody(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Request requests[KINDS], pending;
  int received = 0, bytes = sizeof room;
  char* attached = room;
  MPI_Buffer_attach(room, bytes);
  prepare(requests);
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Startall(KINDS, requests);
    MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Irecv(&received, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &pending);
  for (int kind = 0; kind < KINDS; ++kind) {
    MPI_Status status;
    MPI_Start(&requests[kind]);
    MPI_Wait(&requests[kind], &status);
    if (kind == KINDS - 1) printf("rank 0: from %s\n", status.MPI_SOURCE == MPI_PROC_NULL ? "nobody" : "somebody");
  }
  value = 7;
  MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  for (int kind = 0; kind < KINDS; ++kind) MPI_Request_free(&requests[kind]);
  MPI_Buffer_detach(&attached, &bytes);
  printf("rank 0: received %d\n", received);
  MPI_Finalize();
  return 0;
}

/* A program that tells a profiler where its regions begin. */
static int regions(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Pcontrol(2, "solver", 1, 2, 3, 4, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5);
  MPI_Pcontrol(-2, "assembly", 5, 6, 7, 8, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5);
  return MPI_Finalize();
}

/* small BYTES MESSAGES HOW: two ranks, 40 phases. In each, both start so many messages of so many bytes to each other,
 * by Isend, Issend or persistent requests, compute for 2 ms, and wait for them: what the engine does about that. */
enum { PHASES = 40, MOST = 64, LONGEST = 32768 };

static char outgoing[LONGEST], incoming[MOST][LONGEST];
static MPI_Request small_requests[2 * MOST];

static int small(int argc, char** argv) {
  const int bytes = argc == 4 ? atoi(argv[1]) : 0;
  const int messages = argc == 4 ? atoi(argv[2]) : 0;
  if (messages < 1 || messages > MOST || bytes < 1 || bytes > LONGEST) return 2;
  const int persistent = !strcmp(argv[3], "persistent");
  const int synchronous = !strcmp(argv[3], "issend");
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; persistent && i < messages; ++i) {
    MPI_Recv_init(incoming[i], bytes, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD, &small_requests[i]);
    MPI_Send_init(outgoing, bytes, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD, &small_requests[messages + i]);
  }
  for (int phase = 0; phase < PHASES; ++phase) {
    if (persistent) MPI_Startall(2 * messages, small_requests);
    for (int i = 0; !persistent && i < messages; ++i)
      MPI_Irecv(incoming[i], bytes, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD, &small_requests[i]);
    for (int i = 0; !persistent && i < messages; ++i)
      (synchronous ? MPI_Issend : MPI_Isend)(outgoing, bytes, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD,
                                             &small_requests[messages + i]);
    compute(2e-3);
    MPI_Waitall(2 * messages, small_requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; persistent && i < 2 * messages; ++i) MPI_Request_free(&small_requests[i]);
  MPI_Finalize();
  return 0;
}

/* One rank with many call sites (by their callers), many messages pending at once, and many calls. Prints how many:
 *   rank 0: SITES PENDING CALLS */
enum { levels = 13, pending = 1 << 17 };

static volatile long sent;

/* Each path through the two calls is another stack. */
static __attribute__((noinline)) void walk(int level) {
  if (level == 0) {
    MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    ++sent;
    return;
  }
  walk(level - 1);
  ++sent;
  walk(level - 1);
  --sent;
}

static int many(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 100000;
  MPI_Init(&argc, &argv);
  MPI_Request* requests = malloc(2 * pending * sizeof *requests);
  for (int i = 0; i < pending; ++i) MPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < pending; ++i) MPI_Isend(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[pending + i]);
  MPI_Waitall(2 * pending, requests, MPI_STATUSES_IGNORE);
  for (long i = 0; i < calls; ++i) MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  walk(levels);
  printf("rank 0: %ld %d %ld\n", 1L << levels, pending, calls);
  MPI_Finalize();
  free(requests);
  return 0;
}

/* Two ranks send each other nothing, of no type: MPICH takes it. */
static int nothing_of_no_type(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    if (rank == 0) MPI_Send(NULL, 0, MPI_DATATYPE_NULL, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(NULL, 0, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("rank %d: done\n", rank);
  MPI_Finalize();
  return 0;
}

/* Collective operations of one file, several pending at once: what each of four ranks writes, and reads again. */
enum { AT_ONCE = 4, IN_FILE = 4096, TIMES = 5 };
static int out[AT_ONCE][IN_FILE], in[AT_ONCE][IN_FILE];

static int file_order(int argc, char** argv) {
  int wrong = 0;
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
  MPI_Type_vector(IN_FILE, 1, size, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, strided, "native", MPI_INFO_NULL);
  for (int k = 0; k < TIMES; ++k) {
    for (int i = 0; i < AT_ONCE; ++i)
      for (int j = 0; j < IN_FILE; ++j) out[i][j] = k + rank + i * IN_FILE + j;
    memset(in, 0, sizeof in);
    for (int i = 0; i < AT_ONCE; ++i)
      MPI_File_iwrite_at_all(file, i * (MPI_Offset)IN_FILE, out[i], IN_FILE, MPI_INT, &requests[i]);
    MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < AT_ONCE; ++i)
      MPI_File_iread_at_all(file, i * (MPI_Offset)IN_FILE, in[i], IN_FILE, MPI_INT, &requests[i]);
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

#if defined(MPIX_ERR_PROC_FAILED)
/* The last rank dies while the others compute and wait for it; they go on without it, and exchange again. */
static int survivors(int argc, char** argv) {
  enum { bytes = 1 << 22 };
  static char out[bytes], in[bytes];
  int class, sum = 0, one = 1;
  MPI_Request requests[2];
  MPI_Comm alive;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Irecv(in, bytes, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD, &requests[0]);
  compute(0.2);
  if (rank == size - 1) raise(SIGKILL);
  compute(0.5);
  MPI_Error_class(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), &class);
  /* Who hears first revokes: the other may hear of that alone. */
  printf("rank %d: told %d\n", rank, class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED);
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  MPIX_Comm_shrink(MPI_COMM_WORLD, &alive);
  MPI_Comm_rank(alive, &rank);
  MPI_Comm_size(alive, &size);
  memset(out, rank + 1, bytes);
  MPI_Irecv(in, bytes, MPI_CHAR, (rank + size - 1) % size, 1, alive, &requests[0]);
  MPI_Isend(out, bytes, MPI_CHAR, (rank + 1) % size, 1, alive, &requests[1]);
  compute(0.2);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, alive);
  printf("rank %d: received %d, %d are left\n", rank, in[bytes - 1], sum);
  fflush(stdout);
  return MPI_Finalize();
}
#endif

int main(int argc, char** argv) { return CASE(argc, argv); }
