/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI and OpenMP: prints on how many CPUs the thread may run that calls MPI_Init, which OpenMP's library may have bound
 * before main. */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int provided, rank;
  cpu_set_t own;
  sched_getaffinity(0, sizeof own, &own);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: %d CPUs, %d places\n", rank, CPU_COUNT(&own), omp_get_num_places());
  MPI_Finalize();
  return 0;
}
