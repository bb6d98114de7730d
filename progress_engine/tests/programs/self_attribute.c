/* SPDX-License-Identifier: BSD-3-Clause */
/* What libraries clean up with: an attribute of MPI_COMM_SELF, whose callback MPI_Finalize calls first (MPI 4.1,
 * section 11.2.4). It may make any call; here it sends a message to the other rank and waits for the answer. Two ranks.
 */
#include <mpi.h>
#include <stdio.h>

static int rank;
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

int main(int argc, char** argv) {
  int key;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Finalize();
  return 0;
}
