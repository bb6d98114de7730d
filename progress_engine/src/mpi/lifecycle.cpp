// SPDX-License-Identifier: BSD-3-Clause
// The functions that begin and end MPI, by hand. Each has its PMPI_ twin: Fortran bindings and tools above the engine
// enter there. Begins and ends count: the world is one user of the engine, each session is one.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "mpi/abi.hpp"
#include "mpi/hooks.hpp"
#include "telemetry/report.hpp"

namespace progress_engine {
namespace {

// A begin or end inside another one (PMPI_Init that MPI_Init calls, or a tool in between) is not the program's.
class Outermost {
 public:
  Outermost() = default;
  ~Outermost() { --depth; }
  Outermost(const Outermost&) = delete;
  Outermost& operator=(const Outermost&) = delete;
  explicit operator bool() const { return is_; }

 private:
  static inline thread_local int depth = 0;
  bool is_ = depth++ == 0;
};

std::mutex mutex;  // of begins and ends

// "" if this process's MPI is the one that the engine was built for. The handles of another ABI mean nothing here; the
// wrappers pass them on as they came.
std::string foreign_library() {
  const auto library = library_of(find_symbol("PMPI_Init"));
  return is_mpi_library(library) && !same_abi(library, PE_BUILT_FOR) ? library : "";
}

std::optional<Policy> policy_for(const std::string& foreign) {
  auto policy = read_policy();
  if (foreign.empty()) return policy;
  status().reason = fmt::format("the program uses {}, and this engine was built for {}", foreign, PE_BUILT_FOR);
  return {};
}

struct InitFunctions {
  Next<decltype(&MPI_Init)> init;
  Next<decltype(&MPI_Init_thread)> init_thread;
};

int init_as_asked(InitFunctions& below, int* argc, char*** argv, int asked, int* provided, bool plain) {
  if (!plain) return below.init_thread.get()(argc, argv, asked, provided);
  *provided = MPI_THREAD_SINGLE;
  return below.init.get()(argc, argv);
}

int init_at_multiple(InitFunctions& below, int* argc, char*** argv, int* provided, const Policy& policy) {
  auto events = watch_sockets(policy);
  const int code = below.init_thread.get()(argc, argv, MPI_THREAD_MULTIPLE, provided);
  if (code != MPI_SUCCESS) return code;
  status().level_raised = true;
  if (*provided == MPI_THREAD_MULTIPLE)
    activate(policy, std::move(events), Origin::world);
  else
    status().reason =
        fmt::format("the MPI provides thread level {} only, the engine needs multiple", level_name(*provided));
  return code;
}

int initialise(InitFunctions& below, int* argc, char*** argv, int asked, int* provided, bool plain) {
  const Outermost outermost;
  if (!outermost) return init_as_asked(below, argc, argv, asked, provided, plain);
  const std::scoped_lock lock(mutex);
  const auto foreign = foreign_library();
  const auto policy = policy_for(foreign);
  status().level_asked = asked;
  const int code = policy ? init_at_multiple(below, argc, argv, provided, *policy)
                          : init_as_asked(below, argc, argv, asked, provided, plain);
  if (code != MPI_SUCCESS) return code;
  status().level_provided = *provided;
  if (!broken("level-as-asked")) *provided = std::min(*provided, asked);
  if (foreign.empty()) PE_PMPI(MPI_Comm_rank)(MpiHandles{}.comm_world, &status().rank);
  return code;
}

int finalize(Next<decltype(&MPI_Finalize)>& next) {
  const Outermost outermost;
  if (!outermost) return next.get()();
  const std::scoped_lock lock(mutex);
  deactivate(patient);
  write_report();
  return next.get()();
}

int query_thread(Next<decltype(&MPI_Query_thread)>& next, int* provided) {
  const int code = next.get()(provided);
  // The engine raised the level; the program sees what it asked for.
  if (code == MPI_SUCCESS && status().level_raised) *provided = std::min(*provided, status().level_asked);
  return code;
}

int pcontrol(Next<decltype(&MPI_Pcontrol)>& next, int level) {
  if (Runtime* runtime = active_runtime.load(std::memory_order_acquire)) {
    if (level == 0) runtime->engine->pause();
    if (level == 1) runtime->engine->resume();
  }
  return next.get()(level);
}

int abort_program(Next<int (*)(Word, Word)>& next, Word comm, Word code) {
  deactivate(hasty);
  return next.get()(comm, code);
}

constinit InitFunctions below{Next<decltype(&MPI_Init)>("MPI_Init"),
                              Next<decltype(&MPI_Init_thread)>("MPI_Init_thread")};
constinit InitFunctions below_profiled{Next<decltype(&MPI_Init)>("PMPI_Init"),
                                       Next<decltype(&MPI_Init_thread)>("PMPI_Init_thread")};

}  // namespace
}  // namespace progress_engine

using namespace progress_engine;

PE_INTERPOSED int MPI_Init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  return initialise(below, argc, argv, MPI_THREAD_SINGLE, &provided, true);
}

PE_INTERPOSED int PMPI_Init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  return initialise(below_profiled, argc, argv, MPI_THREAD_SINGLE, &provided, true);
}

PE_INTERPOSED int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return initialise(below, argc, argv, required, provided, false);
}

PE_INTERPOSED int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return initialise(below_profiled, argc, argv, required, provided, false);
}

PE_INTERPOSED int MPI_Finalize() {
  static constinit Next<decltype(&MPI_Finalize)> next("MPI_Finalize");
  return finalize(next);
}

PE_INTERPOSED int PMPI_Finalize() {
  static constinit Next<decltype(&MPI_Finalize)> next("PMPI_Finalize");
  return finalize(next);
}

PE_INTERPOSED int MPI_Query_thread(int* provided) {
  static constinit Next<decltype(&MPI_Query_thread)> next("MPI_Query_thread");
  return query_thread(next, provided);
}

PE_INTERPOSED int PMPI_Query_thread(int* provided) {
  static constinit Next<decltype(&MPI_Query_thread)> next("PMPI_Query_thread");
  return query_thread(next, provided);
}

PE_INTERPOSED int MPI_Pcontrol(const int level, ...) {
  static constinit Next<decltype(&MPI_Pcontrol)> next("MPI_Pcontrol");
  return pcontrol(next, level);
}

PE_INTERPOSED int PMPI_Pcontrol(const int level, ...) {
  static constinit Next<decltype(&MPI_Pcontrol)> next("PMPI_Pcontrol");
  return pcontrol(next, level);
}

PE_INTERPOSED int wrapped_abort(Word comm, Word code) __asm__("MPI_Abort");
int wrapped_abort(Word comm, Word code) {
  static constinit Next<int (*)(Word, Word)> next("MPI_Abort");
  return abort_program(next, comm, code);
}

PE_INTERPOSED int wrapped_profiled_abort(Word comm, Word code) __asm__("PMPI_Abort");
int wrapped_profiled_abort(Word comm, Word code) {
  static constinit Next<int (*)(Word, Word)> next("PMPI_Abort");
  return abort_program(next, comm, code);
}
