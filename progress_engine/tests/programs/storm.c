/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that all communicate at once: `storm THREADS OPERATIONS`. Two ranks. Thread i of a rank talks to thread i of
 * the other one, each with a communicator of its own; both draw the same random operations. All that arrives is
 * checked. Prints one line a rank; and every 20 s on stderr how far its threads are: who ends a run that takes too long
 * sees whether it was slow or stood still. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 3000, WINDOW = 4 };

static int rank, peer, threads, operations;

typedef struct Talk {
  MPI_Comm comm;
  unsigned seed;     /* the same on both sides */
  atomic_long round; /* tell() looks at it, too */
  long errors;
  int out[WINDOW][WORDS], in[WINDOW][WORDS];
  MPI_Request requests[2 * WINDOW];
  MPI_Request persistent[2];
} Talk;

static unsigned draw(Talk* talk, unsigned below) { return (unsigned)rand_r(&talk->seed) % below; }

/* What `from` sends as word i of message `slot` of this round. */
static int word(const Talk* talk, int from, int slot, int i) {
  return (int)(talk->round * 7919 + from * 104729 + slot * 31 + i);
}

static void fill(Talk* talk, int slot, int count) {
  for (int i = 0; i < count; ++i) talk->out[slot][i] = word(talk, rank, slot, i);
  memset(talk->in[slot], 0, sizeof(int) * (size_t)count);
}

static void check(Talk* talk, int slot, int count) {
  for (int i = 0; i < count; ++i)
    if (talk->in[slot][i] != word(talk, peer, slot, i)) {
      ++talk->errors;
      return;
    }
}

static void ping(Talk* talk, int count) {
  if (rank == 0) MPI_Send(talk->out[0], count, MPI_INT, peer, 1, talk->comm);
  MPI_Recv(talk->in[0], count, MPI_INT, peer, 1, talk->comm, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(talk->out[0], count, MPI_INT, peer, 1, talk->comm);
}

static void probed(Talk* talk, int count) {
  MPI_Request request;
  MPI_Status status;
  int got = -1;
  MPI_Isend(talk->out[0], count, MPI_INT, peer, 2, talk->comm, &request);
  MPI_Probe(MPI_ANY_SOURCE, 2, talk->comm, &status);
  MPI_Get_count(&status, MPI_INT, &got);
  talk->errors += got != count || status.MPI_SOURCE != peer;
  MPI_Recv(talk->in[0], count, MPI_INT, peer, 2, talk->comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void windowed(Talk* talk, int count, unsigned how) {
  int flag = 0, index, number, indices[2 * WINDOW];
  for (int i = 0; i < WINDOW; ++i) {
    if (i > 0) fill(talk, i, count);
    MPI_Irecv(talk->in[i], count, MPI_INT, peer, 10 + i, talk->comm, &talk->requests[i]);
    MPI_Isend(talk->out[i], count, MPI_INT, peer, 10 + i, talk->comm, &talk->requests[WINDOW + i]);
  }
  if (how == 0) MPI_Waitall(2 * WINDOW, talk->requests, MPI_STATUSES_IGNORE);
  while (how == 1 && !flag) MPI_Testall(2 * WINDOW, talk->requests, &flag, MPI_STATUSES_IGNORE);
  if (how == 2) do
      MPI_Waitany(2 * WINDOW, talk->requests, &index, MPI_STATUS_IGNORE);
    while (index != MPI_UNDEFINED);
  if (how == 3) do
      MPI_Waitsome(2 * WINDOW, talk->requests, &number, indices, MPI_STATUSES_IGNORE);
    while (number != MPI_UNDEFINED);
  for (int i = 1; i < WINDOW; ++i) check(talk, i, count);
}

static void restarted(Talk* talk, int count) {
  MPI_Send_init(talk->out[0], count, MPI_INT, peer, 3, talk->comm, &talk->persistent[0]);
  MPI_Recv_init(talk->in[0], count, MPI_INT, peer, 3, talk->comm, &talk->persistent[1]);
  MPI_Startall(2, talk->persistent);
  MPI_Waitall(2, talk->persistent, MPI_STATUSES_IGNORE);
  MPI_Request_free(&talk->persistent[0]);
  MPI_Request_free(&talk->persistent[1]);
}

static void collective(Talk* talk) {
  int sum = 0, mine = word(talk, rank, 0, 0), theirs = word(talk, peer, 0, 0);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, talk->comm);
  talk->errors += sum != (int)((unsigned)mine + (unsigned)theirs);
}

static void* live(void* argument) {
  Talk* talk = argument;
  for (talk->round = 0; talk->round < operations; ++talk->round) {
    const unsigned choice = draw(talk, 12);
    const int count = draw(talk, 16) ? 1 + (int)draw(talk, 40) : 1 + (int)draw(talk, WORDS);
    fill(talk, 0, count);
    if (choice < 4)
      ping(talk, count);
    else if (choice < 5)
      MPI_Sendrecv(talk->out[0], count, MPI_INT, peer, 4, talk->in[0], count, MPI_INT, peer, 4, talk->comm,
                   MPI_STATUS_IGNORE);
    else if (choice < 6)
      probed(talk, count);
    else if (choice < 10)
      windowed(talk, count, choice - 6);
    else if (choice < 11)
      restarted(talk, count);
    else
      collective(talk);
    if (choice < 11) check(talk, 0, count);
  }
  return NULL;
}

static void* tell(void* argument) {
  Talk* talks = argument;
  for (int seconds = 20;; seconds += 20) {
    sleep(20);
    long least = operations, most = 0;
    for (int i = 0; i < threads; ++i) {
      const long round = talks[i].round;
      if (round < least) least = round;
      if (round > most) most = round;
    }
    fprintf(stderr, "rank %d after %d s: %ld to %ld of %d operations a thread\n", rank, seconds, least, most,
            operations);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (argc < 3 || provided < MPI_THREAD_MULTIPLE) return 2;
  threads = atoi(argv[1]);
  operations = atoi(argv[2]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  Talk* talks = calloc((size_t)threads, sizeof *talks);
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  for (int i = 0; i < threads; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &talks[i].comm);
    talks[i].seed = (unsigned)i + 1;
  }
  long errors = 0;
  pthread_t teller;
  pthread_create(&teller, NULL, tell, talks);
  pthread_detach(teller);
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, live, &talks[i]);
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
    errors += talks[i].errors;
    MPI_Comm_free(&talks[i].comm);
  }
  printf("rank %d: %d threads, %d operations each, %ld errors\n", rank, threads, operations, errors);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
