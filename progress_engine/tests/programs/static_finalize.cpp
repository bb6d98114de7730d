// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize is called by the destructor of a static object that was there before MPI_Init, after a last exchange
// there with the next rank. Messages of more than a megabyte, which move in the MPI's calls.
#include <mpi.h>

#include <cstdio>
#include <vector>

namespace {

int rank, size;

void exchange(const char* when) {
  constexpr int count = 300000;
  std::vector<int> out(count, rank + 1);
  std::vector<int> in(count, -1);
  MPI_Request requests[2];
  MPI_Irecv(in.data(), count, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out.data(), count, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  long sum = 0;
  for (const int value : in) sum += value;
  std::printf("rank %d: %s %ld\n", rank, when, sum);
  std::fflush(stdout);
}

struct World {
  ~World() {
    exchange("in a destructor");
    MPI_Finalize();
  }
} world;

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  exchange("before");
  return 0;
}
