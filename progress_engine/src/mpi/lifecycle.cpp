// SPDX-License-Identifier: BSD-3-Clause
// The functions that begin and end MPI's world, and who decides when the engine begins and ends.
#include "mpi/lifecycle.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "mpi/abi.hpp"
#include "mpi/absent.hpp"
#include "mpi/call.hpp"
#include "mpi/launcher.hpp"
#include "mpi/mpi_header.hpp"
#include "platform/placement.hpp"

namespace progress_engine {

std::recursive_mutex& lifecycle_mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

// The only collective call that the engine ever makes in all ranks: the others of the MPI are under way to
// MPI_Finalize, which is collective as well.
void pass_finalize_barrier(Nanoseconds limit) {
  if (broken("finalize-barrier")) return;
  const MpiHandles handles;
  MPI_Request request = handles.request_null;
  int done = 0;
  if (PE_PMPI(MPI_Ibarrier)(handles.comm_world, &request) != MPI_SUCCESS) return;
  for (const Nanoseconds end = now() + limit; done == 0 && now() < end;)
    if (PE_PMPI(MPI_Test)(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
}

namespace {

// What handles are: numbers in MPICH's ABI, addresses of the library's objects in Open MPI's.
enum class Handles { numbers, objects, of_the_standard };

constexpr Handles handles_of_this_engine() {
#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION > 0
  return Handles::of_the_standard;
#else
  return std::is_pointer_v<MPI_Comm> ? Handles::objects : Handles::numbers;
#endif
}

// Asked of the library itself, which has begun nothing yet. An MPI whose library is of no standard ABI says -1
// (MPI 5.0, section 20.2).
Handles handles_of_the_mpi() {
  const auto abi_version = reinterpret_cast<int (*)(int*, int*)>(find_symbol("PMPI_Abi_get_version"));
  int major = 0;
  int minor = 0;
  if (abi_version && abi_version(&major, &minor) == 0 && major > 0) return Handles::of_the_standard;
  return find_object("ompi_mpi_comm_world") ? Handles::objects : Handles::numbers;
}

}  // namespace

std::string foreign_library() {
  auto library = library_of(find_symbol("PMPI_Init"));
  if (library.empty() || same_abi(library, PE_BUILT_FOR)) return "";
  if (is_mpi_library(library)) return library;
  // A name that says nothing, as that of a program with an MPI inside.
  return handles_of_the_mpi() == handles_of_this_engine() ? "" : library;
}

namespace {

void say_why_inactive(const char* consequence) {
  if (!status().strict && !status().only_here && !speaks_for_all()) return;
  std::fprintf(stderr, "progress engine: %s; %s.\n", status().reason.c_str(), consequence);
}

}  // namespace

std::optional<Policy> policy_for(const std::string& foreign, Begins begins) {
  auto policy = read_policy();
  status().quiet = status().only_here = false;
  if (policy && !foreign.empty()) {
    status().reason = "the program uses " + foreign + ", and this engine was built for " PE_BUILT_FOR;
    policy.reset();
  }
  // The communication thread must be the first in the MPI: what it provides to threads the first beginning decides.
  // Such a program runs as it does without the engine, and only who asks is told.
  if (policy && policy->offload && (begins == Begins::session || users() > 0)) {
    status().reason = "safety=offload comes with MPI_Init where no session is open";
    status().quiet = true;
    policy.reset();
  }
  if (policy && policy->offload && is_inside_loader()) {
    status().reason =
        "MPI begins in the constructor of a library that dlopen has not opened yet, and safety=offload would wait for "
        "it: the communication thread loads libraries, too";
    policy.reset();
  }
  if (policy && policy->offload && !load_offload(status().reason)) policy.reset();
  if (policy || !status().wanted || !status().strict) return policy;
  say_why_inactive("the program is not run without it (strict=1)");
  std::_Exit(refused);
}

void account_for(const std::optional<Policy>& policy) {
  if (!status().wanted || active_runtime.load()) return;
  if (!policy || !status().strict) {
    if (!status().quiet) say_why_inactive("the program runs without it");
    return;
  }
  say_why_inactive("the program is not run without it (strict=1)");
  int world = 0;
  PE_PMPI(MPI_Initialized)(&world);
  if (world) PE_PMPI(MPI_Abort)(MpiHandles{}.comm_world, refused);
  std::_Exit(refused);
}

int& users() {
  static int number = 0;
  return number;
}

namespace {

bool reported = false;  // and sessions are left

void engine_went_with_the_world() {
  status().reason = "MPI_Finalize was called, and the engine came with MPI_Init";
  reported = true;
}

}  // namespace

void end_user(bool world) {
  const Runtime* runtime = active_runtime.load();
  const bool last = --users() == 0;
  if (last || (world && runtime && runtime->origin == Origin::world)) {
    deactivate(join_timeout);
    if (!reported) write_report();
    reported = false;
    if (!last) engine_went_with_the_world();
  }
}

namespace {

// The two take the MPI's locks and the CPU from each other.
void mention_other_poller(const Policy& policy) {
  if ((!policy.points.threads() && !policy.offload) || !speaks_for_all()) return;
  if (const auto setting = other_poller(); !setting.empty())
    std::fprintf(stderr, "progress engine: %s gives the MPI a progress thread of its own: use that or the engine.\n",
                 setting.c_str());
}

// The program's call that begins the world: the MPI's own functions for it, and what the program has given.
struct Beginning {
  Next<decltype(&MPI_Init)>& init;
  Next<decltype(&MPI_Init_thread)>& init_thread;
  int* argc;
  char*** argv;
  int asked;
  int* provided;
  bool plain;  // by MPI_Init

  int at_level(int level, int* had) const {
    return noting_cpus([&] { return init_thread.get()(argc, argv, level, had); });
  }
  int as_asked() const {
    if (!plain) return at_level(asked, provided);
    *provided = MPI_THREAD_SINGLE;
    return noting_cpus([&] { return init.get()(argc, argv); });
  }

 private:
  // Some MPIs bind their processes only now: MVAPICH2, and Intel MPI under launchers other than its own.
  template <typename Begin>
  static int noting_cpus(Begin begin) {
    const auto before = allowed_cpus(0);
    const int code = begin();
    if (auto after = allowed_cpus(0); after != before) set_cpus_of_process(std::move(after));
    return code;
  }
};

// Begins at the level that threads of the engine's need. An MPI that fails at that may still begin at the program's. If
// it is not `enough` for them, status().reason says so.
int init_for_threads(const Beginning& world, bool& enough) {
  enough = false;
  if (world.at_level(MPI_THREAD_MULTIPLE, world.provided) != MPI_SUCCESS) {
    status().reason = "the MPI does not begin at thread level multiple, which the engine needs";
    return world.as_asked();
  }
  status().level_raised = true;
  enough = *world.provided == MPI_THREAD_MULTIPLE;
  if (!enough)
    status().reason = std::string("the MPI provides thread level ") + level_name(*world.provided) +
                      " only, the engine needs multiple";
  return MPI_SUCCESS;
}

// Who polls in the program's own calls alone needs no other level than the program.
int init_with_engine(const Beginning& world, const Policy& policy) {
  std::unique_ptr<EventSource> events;
  bool may = prepare_event_source(policy, events);
  const int code = may && policy.points.threads() ? init_for_threads(world, may) : world.as_asked();
  if (code != MPI_SUCCESS) return code;
  if (may) activate(policy, std::move(events), Origin::world);
  return code;
}

// The engine came with a session. Its threads must not poll in an MPI that the world has made unfit for them.
int init_beside_engine(const Beginning& world, const Policy& policy) {
  if (!policy.points.threads()) return world.as_asked();
  status().level_raised = true;  // by its own session
  bool enough = true;
  const int code = init_for_threads(world, enough);
  if (enough) return code;
  deactivate(join_timeout);
  if (code == MPI_SUCCESS) account_for(policy);
  return code;
}

// The program gets the level that it asks for, over an MPI at less: one thread makes the calls, and lends its turn.
int init_offload(const Beginning& world, const Policy& policy) {
  std::string& problem = status().reason;
  problem.clear();
  int code = loaded_offload()->initialise(policy, [&](int* level) { return world.at_level(*level, level); }, problem);
  if (!problem.empty()) {
    status().only_here = true;
    code = world.as_asked();
    if (code == MPI_SUCCESS) account_for(policy);
    return code;
  }
  if (code != MPI_SUCCESS) return code;
  *world.provided = world.asked;
  status().level_raised = true;
  status().was_active = true;
  status().reason.clear();
  register_ends();
  watch_gpus(policy);
  return code;
}

// A session may have brought the engine before: then it is there, and stays.
int initialise_world(const Beginning& world) {
  if (const Runtime* runtime = active_runtime.load()) return init_beside_engine(world, runtime->engine->policy());
  const auto policy = policy_for(foreign_library(), Begins::world);
  if (policy) mention_other_poller(*policy);
  if (policy && policy->offload) return init_offload(world, *policy);
  const int code = policy ? init_with_engine(world, *policy) : world.as_asked();
  if (code == MPI_SUCCESS) account_for(policy);
  return code;
}

int initialise(const Beginning& world) {
  const Outermost outermost;
  if (!outermost) return world.as_asked();
  const std::scoped_lock lock(lifecycle_mutex());
  hide_absent_functions();
  status().began = true;
  leave_mark(mark_of_begin);
  status().level_asked = world.asked;
  const int code = initialise_world(world);
  if (code != MPI_SUCCESS) return code;
  ++users();
  if (status().report != Reporting::none || !status().report_file.empty())
    register_ends();  // also where the engine does nothing
  if (offload_in_use.load()) return code;
  status().level_provided = *world.provided;
  if (status().level_raised && !broken("level-as-asked")) *world.provided = std::min(*world.provided, world.asked);
  if (foreign_library().empty()) {
    const MpiHandles handles;
    PE_PMPI(MPI_Comm_rank)(handles.comm_world, &status().rank);
    PE_PMPI(MPI_Comm_size)(handles.comm_world, &status().world_size);
  }
  return code;
}

// The mutex is not held while the MPI ends, for which it may wait for other processes, and they for another thread here
// that begins or ends a session.
int finalize(Next<decltype(&MPI_Finalize)>& next) {
  const Outermost outermost;
  if (!outermost) return next.get()();
  std::unique_lock lock(lifecycle_mutex());
  if (const OffloadLibrary* offload = offload_in_use.load()) {
    lock.unlock();
    const int code = offload->finalise([&] { return end_together(true, next.get()); });
    lock.lock();
    if (--users() > 0) engine_went_with_the_world();
    return code;
  }
  const bool was_there = status().runtime != nullptr && foreign_library().empty();
  end_user(true);
  lock.unlock();
  return was_there ? end_together(true, next.get()) : next.get()();
}

int query_thread(Next<decltype(&MPI_Query_thread)>& next, int* provided) {
  if (offload_in_use.load()) {
    *provided = status().level_asked;
    return MPI_SUCCESS;
  }
  const int code = next.get()(provided);
  // The engine raised the level; the program sees what it asked for.
  if (code == MPI_SUCCESS && status().level_raised) *provided = std::min(*provided, status().level_asked);
  return code;
}

int is_thread_main(Next<decltype(&MPI_Is_thread_main)>& next, int* flag) {
  const OffloadLibrary* offload = offload_in_use.load();
  if (!offload) return next.get()(flag);
  *flag = offload->is_main_thread();
  return MPI_SUCCESS;
}

void switch_by_pcontrol(int level) {
  Runtime* runtime = active_runtime.load(std::memory_order_acquire);
  if (!runtime || !runtime->engine->policy().pcontrol) return;
  if (level == 0) runtime->engine->pause();
  if (level == 1) runtime->engine->resume();
}

int abort_program(Next<int (*)(Word, Word)>& next, Word comm, Word code) {
  if (!broken("abort")) fall_silent();
  return next.get()(comm, code);
}

}  // namespace
}  // namespace progress_engine

using namespace progress_engine;

#define PE_BEGIN(prefix)                                                                                      \
  static constinit Next<decltype(&MPI_Init)> prefix##_init(#prefix "_Init");                                  \
  static constinit Next<decltype(&MPI_Init_thread)> prefix##_init_thread(#prefix "_Init_thread");             \
  PE_INTERPOSED int prefix##_Init(int* argc, char*** argv) {                                                  \
    int provided = MPI_THREAD_SINGLE;                                                                         \
    return initialise({prefix##_init, prefix##_init_thread, argc, argv, MPI_THREAD_SINGLE, &provided, true}); \
  }                                                                                                           \
  PE_INTERPOSED int prefix##_Init_thread(int* argc, char*** argv, int required, int* provided) {              \
    return initialise({prefix##_init, prefix##_init_thread, argc, argv, required, provided, false});          \
  }

// NOLINTBEGIN(readability-named-parameter)
PE_BEGIN(MPI)
PE_BEGIN(PMPI)
PE_ENTRIES(MPI_Finalize, decltype(&MPI_Finalize), (), finalize(next))
PE_ENTRIES(MPI_Query_thread, decltype(&MPI_Query_thread), (int* provided), query_thread(next, provided))
PE_ENTRIES(MPI_Is_thread_main, decltype(&MPI_Is_thread_main), (int* flag), is_thread_main(next, flag))
PE_ENTRIES(MPI_Pcontrol, decltype(&MPI_Pcontrol), (PE_PCONTROL_PARAMETERS),
           (switch_by_pcontrol(static_cast<int>(level)), next.get()(PE_PCONTROL_ARGUMENTS)))
PE_ENTRIES(MPI_Abort, int (*)(Word, Word), (Word comm, Word code), abort_program(next, comm, code))
// NOLINTEND(readability-named-parameter)
