// SPDX-License-Identifier: BSD-3-Clause
// What an MPI call costs that moves nothing: to or from MPI_PROC_NULL. The engine's share of a call is the difference
// between launches with and without it, at the same thread level. One rank.
#include <benchmark/benchmark.h>
#include <mpi.h>

namespace {

void untracked_call(benchmark::State& state) {
  int rank = 0;
  for (auto _ : state) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}
BENCHMARK(untracked_call);

void blocking_call(benchmark::State& state) {
  for (auto _ : state) MPI_Send(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}
BENCHMARK(blocking_call);

// Tests a request that is none: what stays is the completion's bookkeeping.
void completion(benchmark::State& state) {
  MPI_Request request = MPI_REQUEST_NULL;
  int flag = 0;
  for (auto _ : state) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}
BENCHMARK(completion);

void start_and_completion(benchmark::State& state) {
  MPI_Request request = MPI_REQUEST_NULL;
  for (auto _ : state) {
    MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
BENCHMARK(start_and_completion);

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  benchmark::Initialize(&argc, argv);
  const bool unknown = provided < MPI_THREAD_MULTIPLE || benchmark::ReportUnrecognizedArguments(argc, argv);
  if (!unknown) benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  MPI_Finalize();
  return unknown ? 1 : 0;
}
