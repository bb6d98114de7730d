// SPDX-License-Identifier: BSD-3-Clause
// What an MPI call costs that moves nothing: to or from MPI_PROC_NULL. The engine's share of a call is the difference
// between launches with and without it, at the same thread level. One rank.
//
// `engine_call_costs count` times nothing: it runs each path a thousand times, in a function of a known name, and
// prints the path's. Valgrind's Callgrind counts the instructions of that function: the same in each launch, on any
// machine.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <cstdio>
#include <string_view>

namespace {

MPI_Request request = MPI_REQUEST_NULL;

void untracked_call() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

void blocking_call() { MPI_Send(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); }

// Tests a request that is none: what stays is the completion's bookkeeping.
void completion() {
  int flag = 0;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

void start_and_completion() {
  MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

constexpr struct {
  const char* name;
  void (*once)();
} paths[] = {{"untracked_call", untracked_call},
             {"blocking_call", blocking_call},
             {"completion", completion},
             {"start_and_completion", start_and_completion}};

}  // namespace

// By this name Callgrind finds it.
extern "C" [[gnu::noinline]] void pe_count_calls(void (*once)(), int calls) {
  for (int call = 0; call < calls; ++call) once();
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  bool good = provided == MPI_THREAD_MULTIPLE;
  if (good && argc == 2 && std::string_view(argv[1]) == "count") {
    constexpr int warm_up = 100;
    constexpr int counted = 1000;
    for (const auto& path : paths) {
      for (int call = 0; call < warm_up; ++call) path.once();
      pe_count_calls(path.once, counted);
      std::puts(path.name);
    }
  } else if (good) {
    for (const auto& path : paths)
      benchmark::RegisterBenchmark(path.name, [once = path.once](benchmark::State& state) {
        for (auto _ : state) once();
      });
    benchmark::Initialize(&argc, argv);
    good = !benchmark::ReportUnrecognizedArguments(argc, argv);
    if (good) benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
