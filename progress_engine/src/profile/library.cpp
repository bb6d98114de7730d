// SPDX-License-Identifier: BSD-3-Clause
// When profiling begins and ends: with the MPI.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "mpi/abi.hpp"
#include "mpi/mpi_handles.hpp"
#include "mpi/mpi_header.hpp"
#include "profile/ask_mpi.hpp"
#include "profile/call.hpp"
#include "profile/write.hpp"

namespace progress_engine::profile {
namespace {

Process& process() {
  static auto* the_process = new Process;
  return *the_process;
}

pid_t began_in = 0;  // not a child that was forked
bool sessions_began_it = false;

// What progress-run has made of the settings; empty where it is not set.
std::string setting(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

bool compares_clocks(bool world) { return world && setting("PROGRESS_ENGINE_PROFILE_CLOCKS") == "1"; }

// By MPI_Finalize or the end of the last session, or at the exit of a program that does not call it.
void end(bool world) {
  if (!counting.exchange(false) || getpid() != began_in) return;
  profile().ended = now();
  if (compares_clocks(world)) process().clock_last = compare_clocks();
  write(process());
}

void end_at_exit() { end(false); }

// Its handles are not those that this library knows.
bool is_foreign(const std::string& library) { return is_mpi_library(library) && !same_abi(library, PE_BUILT_FOR); }

Regions regions_of(const std::string& word) {
  if (word == "levels") return Regions::levels;
  return word == "names" ? Regions::names : Regions::off;
}

// `make_world`: the group of all processes. Of a program that goes on with sessions after its last one all is one
// profile.
template <typename MakeWorld>
void begin(bool world, MakeWorld&& make_world) {
  const auto folder = setting("PROGRESS_ENGINE_PROFILE");
  if (folder.empty() || (counting && !(world && sessions_began_it))) return;
  if (const auto library = library_of(find_symbol("PMPI_Init")); is_foreign(library)) {
    std::fprintf(stderr, "progress engine: the program uses %s, and this profiler was built for %s: no profile.\n",
                 library.c_str(), PE_BUILT_FOR);
    return;
  }
  MPI_Group group{};
  if (make_world(&group) != MPI_SUCCESS) return;
  keep_world(group);
  sessions_began_it = !world;
  if (compares_clocks(world)) process().clock_first = compare_clocks();
  if (counting) return;  // the world, beside sessions: from now on it is MPI_Finalize that ends
  process().folder = folder;
  PE_PMPI(MPI_Group_rank)(group, &process().rank);
  PE_PMPI(MPI_Group_size)(group, &process().size);
  profile().messages.is_one_of(static_cast<std::size_t>(process().size));
  static const bool once = [] { return std::atexit(end_at_exit) == 0; }();
  (void)once;
  began_in = getpid();
  set_depth(static_cast<int>(std::strtol(setting("PROGRESS_ENGINE_PROFILE_DEPTH").c_str(), nullptr, 10)));
  set_regions(regions_of(setting("PROGRESS_ENGINE_PROFILE_REGIONS")));
  look_at_libraries();
  if (profile().began == 0) profile().began = now();
  counting = true;
}

int world_of_world(MPI_Group* group) {
  const MpiHandles handles;
  return PE_PMPI(MPI_Comm_group)(handles.comm_world, group);
}

// The MPI itself or a tool may begin it by a call of another of these.
template <typename Begin>
int beginning(Begin&& begin_mpi) {
  ++clock_of_thread.depth;
  const int code = begin_mpi();
  if (--clock_of_thread.depth == 0 && code == MPI_SUCCESS) begin(true, world_of_world);
  return code;
}

template <typename End>
int ending(End&& end_mpi) {
  if (clock_of_thread.depth == 0) {
    end(true);
    forget_world();
  }
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

// NOLINTBEGIN(readability-named-parameter)
PE_INTERPOSED int profiled_pcontrol(PE_PCONTROL_PARAMETERS) __asm__("MPI_Pcontrol");
int profiled_pcontrol(PE_PCONTROL_PARAMETERS) {
  static constinit Next<decltype(&MPI_Pcontrol)> next("MPI_Pcontrol");
  pcontrol(static_cast<int>(level), as<const char*>(a));
  return next.get()(PE_PCONTROL_ARGUMENTS);
}
// Fortran's bindings call this one, or the other: a level may be set twice, and no name comes from there.
PE_INTERPOSED int profiled_twin_of_pcontrol(PE_PCONTROL_PARAMETERS) __asm__("PMPI_Pcontrol");
int profiled_twin_of_pcontrol(PE_PCONTROL_PARAMETERS) {
  static constinit Next<decltype(&MPI_Pcontrol)> next("PMPI_Pcontrol");
  pcontrol(static_cast<int>(level), nullptr);
  return next.get()(PE_PCONTROL_ARGUMENTS);
}
// NOLINTEND(readability-named-parameter)

#ifdef PE_HAS_MPI_SESSIONS

namespace {

std::mutex sessions_mutex;
int sessions = 0;

int open_session(Next<int (*)(Word, Word, Word)>& next, Word info, Word errhandler, Word session) {
  ++clock_of_thread.depth;
  const int code = next.get()(info, errhandler, session);
  if (--clock_of_thread.depth > 0 || code != MPI_SUCCESS) return code;
  const std::scoped_lock lock(sessions_mutex);
  if (++sessions > 1 || counting) return code;
  begin(false, [session](MPI_Group* group) {
    return PE_PMPI(MPI_Group_from_session_pset)(*as<MPI_Session*>(session), "mpi://WORLD", group);
  });
  return code;
}

int close_session(Next<int (*)(Word)>& next, Word session) {
  if (clock_of_thread.depth == 0) {
    const std::scoped_lock lock(sessions_mutex);
    if (--sessions == 0 && std::exchange(sessions_began_it, false)) {
      end(false);
      forget_world();
    }
  }
  ++clock_of_thread.depth;
  const int code = next.get()(session);
  --clock_of_thread.depth;
  return code;
}

}  // namespace

#define PE_SESSIONS(open, close, prefix)                                              \
  PE_INTERPOSED int open(Word, Word, Word) __asm__(prefix "MPI_Session_init");        \
  int open(Word info, Word errhandler, Word session) {                                \
    static constinit Next<int (*)(Word, Word, Word)> next(prefix "MPI_Session_init"); \
    return open_session(next, info, errhandler, session);                             \
  }                                                                                   \
  PE_INTERPOSED int close(Word) __asm__(prefix "MPI_Session_finalize");               \
  int close(Word session) {                                                           \
    static constinit Next<int (*)(Word)> next(prefix "MPI_Session_finalize");         \
    return close_session(next, session);                                              \
  }
PE_SESSIONS(profiled_session_init, profiled_session_finalize, "")
PE_SESSIONS(profiled_twin_of_session_init, profiled_twin_of_session_finalize, "P")

#endif
