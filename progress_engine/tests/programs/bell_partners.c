// SPDX-License-Identifier: BSD-3-Clause
// Large messages between two ranks whose partner or size the start of the message does not say plainly:
// persistent: requests that are started again after 1.5 s; anyone: rank 0 receives from any source and sends nothing
// large; vast: rank 0 receives what is small into a datatype of 3 GiB; late: the first messages to the other node come
// after many to itself; little: what is received is much smaller than its buffer.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { size = 1 << 20, rounds = 20 };

static double compute(double seconds) {
  double sum = 0;
  for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < seconds;)
    for (int i = 0; i < 1000; ++i) sum += i;
  return sum;
}

static int rank;
static unsigned char *to, *from;

static void exchange(int how_many, MPI_Request* requests) {
  for (int round = 0; round < how_many; ++round) {
    MPI_Startall(2, requests);
    compute(0.02);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static void persistent(void) {
  MPI_Request requests[2];
  MPI_Recv_init(from, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(to, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  exchange(3, requests);
  usleep(1500000);
  exchange(rounds, requests);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

static void anyone(void) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Request request;
    if (rank == 0)
      MPI_Irecv(from, size, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    else
      MPI_Isend(to, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
    compute(0.02);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void vast(void) {
  const size_t bytes = (size_t)3 << 30;
  MPI_Datatype mebibyte, type;
  MPI_Type_contiguous(1 << 20, MPI_BYTE, &mebibyte);
  MPI_Type_contiguous(3 << 10, mebibyte, &type);
  MPI_Type_commit(&type);
  MPI_Request request;
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 3);
  if (rank == 0) MPI_Irecv(memory, 1, type, 1, 0, MPI_COMM_WORLD, &request);
  compute(0.1);
  if (rank == 1) MPI_Isend(to, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  munmap(memory, bytes);
  MPI_Type_free(&type);
  MPI_Type_free(&mebibyte);
}

static void swap(int partner, int bytes, double seconds) {
  MPI_Request requests[2];
  MPI_Irecv(from, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(to, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[1]);
  compute(seconds);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void late(void) {
  for (int round = 0; round < 200; ++round) swap(rank, size, 0.0005);
  for (int round = 0; round < rounds; ++round) swap(1 - rank, size, 0.02);
}

static void little(void) {
  for (int round = 0; round < 3 * rounds; ++round) swap(1 - rank, 8, 0.005);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  to = calloc(size, 1);
  from = calloc(size, 1);
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "persistent") == 0) persistent();
  if (strcmp(what, "anyone") == 0) anyone();
  if (strcmp(what, "vast") == 0) vast();
  if (strcmp(what, "late") == 0) late();
  if (strcmp(what, "little") == 0) little();
  free(to);
  free(from);
  MPI_Finalize();
  return 0;
}
