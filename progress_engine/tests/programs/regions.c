/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that tells a profiler where its regions begin. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Pcontrol(2, "solver", 1, 2, 3, 4, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5);
  MPI_Pcontrol(-2, "assembly", 5, 6, 7, 8, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5);
  return MPI_Finalize();
}
