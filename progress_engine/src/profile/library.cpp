// SPDX-License-Identifier: BSD-3-Clause
// When profiling begins and ends: with the MPI.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "mpi/abi.hpp"
#include "mpi/mpi_handles.hpp"
#include "mpi/mpi_header.hpp"
#include "profile/call.hpp"
#include "profile/write.hpp"

namespace progress_engine::profile {
namespace {

Process& process() {
  static auto* the_process = new Process;
  return *the_process;
}

pid_t began_in = 0;  // not a child that was forked

// By MPI_Finalize, or at the exit of a program that does not call it.
void end() {
  if (!counting.exchange(false) || getpid() != began_in) return;
  profile().ended = now();
  write(process());
}

// Its handles are not those that this library knows.
bool is_foreign(const std::string& library) { return is_mpi_library(library) && !same_abi(library, PE_BUILT_FOR); }

void begin() {
  const char* folder = std::getenv("PROGRESS_ENGINE_PROFILE");
  if (!folder || !*folder || counting) return;
  if (const auto library = library_of(find_symbol("PMPI_Init")); is_foreign(library)) {
    std::fprintf(stderr, "progress engine: the program uses %s, and this profiler was built for %s: no profile.\n",
                 library.c_str(), PE_BUILT_FOR);
    return;
  }
  process().folder = folder;
  const MpiHandles handles;
  PE_PMPI(MPI_Comm_rank)(handles.comm_world, &process().rank);
  PE_PMPI(MPI_Comm_size)(handles.comm_world, &process().size);
  static const bool once = [] { return std::atexit(end) == 0; }();
  (void)once;
  began_in = getpid();
  look_at_libraries();
  profile().began = now();
  counting = true;
}

// The MPI itself or a tool may begin it by a call of another of these.
template <typename Begin>
int beginning(Begin&& begin_mpi) {
  ++clock_of_thread.depth;
  const int code = begin_mpi();
  if (--clock_of_thread.depth == 0 && code == MPI_SUCCESS) begin();
  return code;
}

template <typename End>
int ending(End&& end_mpi) {
  if (clock_of_thread.depth == 0) end();
  ++clock_of_thread.depth;
  const int code = end_mpi();
  --clock_of_thread.depth;
  return code;
}

}  // namespace
}  // namespace progress_engine::profile

using namespace progress_engine;
using namespace progress_engine::profile;

PE_INTERPOSED int MPI_Init(int* argc, char*** argv) {
  static constinit Next<decltype(&MPI_Init)> next("MPI_Init");
  return beginning([&] { return next.get()(argc, argv); });
}

PE_INTERPOSED int PMPI_Init(int* argc, char*** argv) {
  static constinit Next<decltype(&MPI_Init)> next("PMPI_Init");
  return beginning([&] { return next.get()(argc, argv); });
}

PE_INTERPOSED int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  static constinit Next<decltype(&MPI_Init_thread)> next("MPI_Init_thread");
  return beginning([&] { return next.get()(argc, argv, required, provided); });
}

PE_INTERPOSED int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  static constinit Next<decltype(&MPI_Init_thread)> next("PMPI_Init_thread");
  return beginning([&] { return next.get()(argc, argv, required, provided); });
}

PE_INTERPOSED int MPI_Finalize() {
  static constinit Next<decltype(&MPI_Finalize)> next("MPI_Finalize");
  return ending([&] { return next.get()(); });
}

PE_INTERPOSED int PMPI_Finalize() {
  static constinit Next<decltype(&MPI_Finalize)> next("PMPI_Finalize");
  return ending([&] { return next.get()(); });
}
