// SPDX-License-Identifier: BSD-3-Clause
// The functions that begin and end MPI's sessions.
//
// A program that has no world yet brings the engine with its first session. An engine with threads opens one of its own
// before, since the first one decides how MPI treats threads; one that polls in the program's calls alone comes after
// the program's, at the level that the program has asked for. Under `offload` it brings none, and one that is opened
// beside the world is opened and closed by the communication thread.
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "mpi/absent.hpp"
#include "mpi/call.hpp"
#include "mpi/launcher.hpp"
#include "mpi/lifecycle.hpp"
#include "mpi/mpi_header.hpp"

#ifdef PE_HAS_MPI_SESSIONS

namespace progress_engine {
namespace {

using InitFunction = Next<int (*)(Word, Word, Word)>;
using FinalizeFunction = Next<int (*)(Word)>;

bool has_threads(const std::optional<Policy>& policy) { return policy && policy->points.threads(); }

void bring_engine(const std::optional<Policy>& policy) {
  const bool threads = has_threads(policy);
  std::unique_ptr<EventSource> events;
  if (policy && prepare_event_source(*policy, events))
    activate(*policy, std::move(events), threads ? Origin::session : Origin::plain_session);
  status().level_provided = threads && active_runtime.load() ? MPI_THREAD_MULTIPLE : -1;
  account_for(policy);
}

// No other thread may be in an MPI that offers less than MPI_THREAD_MULTIPLE.
int in_turn(const std::function<int()>& call) {
  const OffloadLibrary* offload = offload_in_use.load();
  return offload ? offload->execute(call) : call();
}

void learn_rank(MPI_Session session) {
  MPI_Group world{};
  if (PE_PMPI(MPI_Group_from_session_pset)(session, "mpi://WORLD", &world) != MPI_SUCCESS) return;
  PE_PMPI(MPI_Group_rank)(world, &status().rank);
  PE_PMPI(MPI_Group_size)(world, &status().world_size);
  PE_PMPI(MPI_Group_free)(&world);
}

int open_session(InitFunction& next, Word info, Word errhandler, Word session) {
  const Outermost outermost;
  if (!outermost) return next.get()(info, errhandler, session);
  const std::scoped_lock lock(lifecycle_mutex());
  hide_absent_functions();
  status().began = true;
  leave_mark(mark_of_begin);
  const auto foreign = foreign_library();
  const bool first = users() == 0;
  const auto policy = first ? policy_for(foreign, Begins::session) : std::nullopt;
  if (first && has_threads(policy)) bring_engine(policy);
  const int code = in_turn([&] { return next.get()(info, errhandler, session); });
  if (first && !has_threads(policy) && code == MPI_SUCCESS) bring_engine(policy);
  if (code == MPI_SUCCESS) ++users();
  if (code == MPI_SUCCESS && foreign.empty() && status().rank < 0) learn_rank(*as<MPI_Session*>(session));
  if (users() == 0) deactivate(join_timeout);
  return code;
}

int close_session(FinalizeFunction& next, Word session) {
  const Outermost outermost;
  if (!outermost) return next.get()(session);
  std::unique_lock lock(lifecycle_mutex());  // as in finalize()
  if (offload_in_use.load()) {
    --users();
    lock.unlock();
    return in_turn([&] { return next.get()(session); });
  }
  const bool was_there = status().runtime != nullptr && foreign_library().empty();
  end_user(false);
  lock.unlock();
  return was_there ? end_together(false, [&] { return next.get()(session); }) : next.get()(session);
}

}  // namespace
}  // namespace progress_engine

using namespace progress_engine;

// NOLINTBEGIN(readability-named-parameter)
PE_ENTRIES(MPI_Session_init, int (*)(Word, Word, Word), (Word info, Word errhandler, Word session),
           open_session(next, info, errhandler, session))
PE_ENTRIES(MPI_Session_finalize, int (*)(Word), (Word session), close_session(next, session))
// NOLINTEND(readability-named-parameter)

#endif
