/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that are ranks (MPIX_Threadcomm of MPICH): each sends to the next one around a ring, twice, and adds up their
 * numbers. Before and after, the process' own communicator is used by one thread. Prints what each thread had. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, MESSAGE = 10000 };

static void* ring(void* argument) {
  MPI_Comm comm = *(MPI_Comm*)argument;
  for (int again = 0; again < 2; ++again) {
    MPIX_Threadcomm_start(comm);
    int rank, size, sum = 0, received[MESSAGE] = {0}, sent[MESSAGE];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < MESSAGE; ++i) sent[i] = rank;
    MPI_Request request;
    MPI_Isend(sent, MESSAGE, MPI_INT, (rank + 1) % size, 1, comm, &request);
    MPI_Status status;
    MPI_Recv(received, MESSAGE, MPI_INT, (rank + size - 1) % size, 1, comm, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    printf("%d of %d: %d from %d, sum %d\n", rank, size, received[MESSAGE - 1], status.MPI_SOURCE, sum);
    MPIX_Threadcomm_finish(comm);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level, rank, sum = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm comm;
  MPIX_Threadcomm_init(MPI_COMM_WORLD, THREADS, &comm);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, ring, &comm);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  MPIX_Threadcomm_free(&comm);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("sum %d\n", sum);
  return MPI_Finalize();
}
