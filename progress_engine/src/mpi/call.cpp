// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call.hpp"

#include <algorithm>
#include <cstdio>

#include "mpi/launcher.hpp"
#include "mpi/lifecycle.hpp"

namespace progress_engine {

[[gnu::noinline]] ThreadSlot& Call::slot_here() const { return this_thread_slot(*runtime_); }

namespace {

// Takes out of the depth what ended elsewhere: the depth is its own thread's to write. The depth that is left.
int settle(ThreadSlot& slot) {
  const int ended = slot.left_elsewhere.exchange(0, std::memory_order_acquire);
  if (ended > 0) slot.change_depth(-ended);
  const int depth = slot.depth.load(std::memory_order_relaxed);
  if (depth == 0) slot.several_callers = false;
  return depth;
}

// Whether the outermost call that is under way here belongs to another user-level thread than the caller. It may end
// elsewhere at any time, and its stack with it: the mark may be looked at only if it lies on the caller's own stack.
bool another_is_inside(const ThreadSlot& slot, const void* frame) {
  const bool here = is_on_own_stack(frame);
  if (here != is_on_own_stack(slot.mark)) return true;
  return !here && !is_below(slot.mark);
}

}  // namespace

// The call's kernel thread is in several calls, or this one: who ends elsewhere leaves a note. The mark of a call that
// is over would look like that of one that a longjmp has left: so it is nobody's then, and who is still inside another.
void Call::leave_among_others() {
  if (!moved()) {
    set_depth(slot_->depth.load(std::memory_order_relaxed) - 1);
    settle(*slot_);
    if (slot_->mark == &mark_) slot_->mark = nullptr;
  } else {
    slot_->left_elsewhere.fetch_add(1, std::memory_order_release);
  }
  if (outer_ == 0) runtime_->engine->after_call(*slot_);
}

// A call inside another one, or what looks so after a longjmp out of MPI, by an error handler of the program's. The
// frame of the outer call tells: it is gone if this one lies above it or at the same place, or if something else was
// written over its mark. (Then the engine would believe for ever that the thread is inside MPI.)
[[gnu::no_sanitize("address", "thread")]] void Call::enter_again() {
  outer_ = settle(*slot_);
  if (outer_ == 0) {
    enter_first();
    return;
  }
  if (outer_ < ThreadSlot::outside && another_is_inside(*slot_, &mark_)) {
    slot_->several_callers = true;
    slot_->mark = &mark_;
    set_depth(outer_ + 1);
    outer_ = 0;
    return;
  }
  const auto outer = reinterpret_cast<std::uintptr_t>(slot_->mark);
  const bool gone = reinterpret_cast<std::uintptr_t>(&mark_) >= outer || *slot_->mark != outer;
  if (outer_ >= ThreadSlot::outside || !gone || broken("longjmp")) {
    set_depth(outer_ + 1);
    return;
  }
  for (int sections = slot_->exclusive_sections.exchange(0); sections > 0; --sections)
    runtime_->engine->end_exclusive();
  outer_ = 0;
  enter_first();
}

RareCall::RareCall() = default;
RareCall::~RareCall() = default;

void RareCall::started(int code, const MPI_Request* request) { Call::started(code, request); }

void RareCall::sent(int code, MPI_Comm communicator, int rank) { Call::sent(code, communicator, rank); }

NewWindow::NewWindow(const Call& call, MPI_Comm communicator) : communicator_(communicator) {
  if (!call.counts() || !call.runtime().quirks.windows_below_multiple) return;
  if (!status().level_raised || status().level_asked == MPI_THREAD_MULTIPLE) return;
  const MpiHandles& handles = call.runtime().handles;
  if (communicator == handles.comm_null) return;
  held_ = PE_PMPI(MPI_Comm_get_errhandler)(communicator, &handler_) == MPI_SUCCESS &&
          PE_PMPI(MPI_Comm_set_errhandler)(communicator, handles.errors_return) == MPI_SUCCESS;
}

int NewWindow::made(int code) {
  if (!held_) return code;
  PE_PMPI(MPI_Comm_set_errhandler)(communicator_, handler_);
  PE_PMPI(MPI_Errhandler_free)(&handler_);
  if (code == MPI_SUCCESS) return code;
  if (speaks_for_all())
    std::fprintf(stderr,
                 "progress engine: this MPI refuses windows at MPI_THREAD_MULTIPLE, which the engine's threads need; "
                 "run this program under explicit or offload, or without the engine.\n");
  PE_PMPI(MPI_Comm_call_errhandler)(communicator_, code);
  return code;
}

// The group that ranks in calls with this communicator belong to.
static int group_of(MPI_Comm communicator, MPI_Group* group) {
  int between_two = 0;
  if (const int code = PE_PMPI(MPI_Comm_test_inter)(communicator, &between_two); code != MPI_SUCCESS) return code;
  return between_two ? PE_PMPI(MPI_Comm_remote_group)(communicator, group)
                     : PE_PMPI(MPI_Comm_group)(communicator, group);
}

int Call::ask_world_rank(MPI_Comm communicator, int rank, std::uint64_t key) const {
  if (communicator == runtime_->handles.comm_null) return -1;
  return learn_world_rank((std::uint64_t)communicator, rank, key,
                          [communicator](MPI_Group* group) { return group_of(communicator, group); });
}

std::vector<NearRanks::Pair> Call::near_ranks_of(MPI_Group* group) const {
  const auto in_world = runtime_->doorbell->ranks_of_neighbours();
  std::vector<int> ranks(in_world.size(), -1);
  MPI_Group world{};
  PE_PMPI(MPI_Comm_group)(runtime_->handles.comm_world, &world);
  PE_PMPI(MPI_Group_translate_ranks)(world, static_cast<int>(ranks.size()), in_world.data(), *group, ranks.data());
  PE_PMPI(MPI_Group_free)(&world);
  PE_PMPI(MPI_Group_free)(group);
  std::vector<NearRanks::Pair> pairs;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] >= 0) pairs.emplace_back(ranks[i], in_world[i]);  // else MPI_UNDEFINED
  return pairs;
}

// Who was not found before may be known now.
void Call::missed() const {
  runtime_->doorbell->missed(++slot().misses);
  const auto neighbours = runtime_->doorbell->neighbours();
  if (runtime_->neighbours.load(std::memory_order_relaxed) == neighbours) return;
  runtime_->neighbours.store(neighbours, std::memory_order_relaxed);
  runtime_->ranks.forget();
}

void Call::expects(int code, MPI_Comm communicator, int rank) {
  if (!counts() || !runtime_->doorbell || code != MPI_SUCCESS) return;
  if (rank == MPI_ANY_SOURCE) runtime_->doorbell->expect_all();
  if (rank < 0) return;
  const int world = world_rank(communicator, rank);
  if (world < 0 || !runtime_->doorbell->expect(world)) missed();
}

void Call::prepared(int code, const MPI_Request* request) {
  if (counts() && code == MPI_SUCCESS) runtime_->persistent.add(*request);
}

void Call::prepared_with_all(int code, const MPI_Request* request) {
  if (counts() && runtime_->doorbell && code == MPI_SUCCESS) runtime_->persistent.concerns_all(*request);
}

void Call::prepared_partitioned(int code, const MPI_Request* request, int partitions) {
  prepared(code, request);
  if (counts() && code == MPI_SUCCESS && runtime_->quirks.partitioned_alone &&
      runtime_->partitioned.add(*request, partitions))
    runtime_->engine->begin_exclusive();
}

void Call::readied(int code, MPI_Request request, int partitions) {
  if (!counts() || code != MPI_SUCCESS) return;
  if (runtime_->partitioned.ready(request, partitions)) runtime_->engine->end_exclusive();
}

void Call::restarted(int code, int count, const MPI_Request* requests) {
  if (!counts() || code != MPI_SUCCESS || broken("persistent-starts")) return;
  std::uint64_t news = 0;
  bool all = false;
  for (int i = 0; i < count; ++i) {
    news += runtime_->persistent.activate(requests[i], &all) ? 1 : 0;
    const int more = runtime_->partitioned.empty() ? 0 : runtime_->partitioned.started(requests[i]);
    if (more > 0) runtime_->engine->begin_exclusive();
    if (more < 0) runtime_->engine->end_exclusive();
  }
  Activity::note_start(slot(), news, news * Activity::unbounded);
  if (all) sent_to_all(code);
  // Each of the others concerns one partner; nobody needs to be rung twice.
  const auto near = runtime_->doorbell ? static_cast<int>(runtime_->doorbell->neighbours()) : 0;
  int left = std::min(count, near);
  do sent_to_partners(code);
  while ((left -= Doorbell::partners_at_once) > 0);
}

void Call::started_exclusive(int code, const MPI_Request* request) {
  started(code, request);
  if (!counts() || code != MPI_SUCCESS || *request == runtime_->handles.request_null) return;
  if (!runtime_->quirks.files_alone) return;
  runtime_->engine->begin_exclusive();
  runtime_->file_requests.add(*request);
}

// Libraries are loaded at any time.
bool ProgramProgressFunction::refuse_gpu() {
  const GpuKind* kind = gpus ? gpus->in_use(microseconds(10000)) : nullptr;
  if (!kind || may_poll_beside(*kind, beside_gpus)) return false;
  if (runtime_.gpu.exchange(kind)) return true;
  runtime_.engine->forbid();
  const auto reason = why_no_polling(*kind);
  if (status().strict || speaks_for_all())
    std::fprintf(stderr, "progress engine: %s; %s.\n", reason.c_str(),
                 status().strict ? "the program is not run without it (strict=1)" : "the program goes on without it");
  if (status().strict) PE_PMPI(MPI_Abort)(runtime_.handles.comm_world, refused);
  return true;
}

}  // namespace progress_engine
