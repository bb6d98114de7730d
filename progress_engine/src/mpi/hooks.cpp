// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/hooks.hpp"

#include <mutex>

#include "mpi/persistent.hpp"

namespace progress_engine {

// A call inside another one, or what looks so after a longjmp out of MPI, by an error handler of the program's. The
// frame of the outer call tells: it is gone if this one lies above it or at the same place, or if something else was
// written over its mark. (Then the engine would believe for ever that the thread is inside MPI.)
[[gnu::no_sanitize("address", "thread")]] void Call::enter_again() {
  const auto outer = reinterpret_cast<std::uintptr_t>(slot_->mark);
  const bool gone = reinterpret_cast<std::uintptr_t>(&mark_) >= outer || *slot_->mark != outer;
  if (outer_ >= ThreadSlot::outside || !gone || broken("longjmp")) {
    set_depth(outer_ + 1);
    return;
  }
  for (; slot_->holds > 0; --slot_->holds) runtime_->engine->release();
  outer_ = 0;
  enter_first();
}

void Call::expects(int code, MPI_Comm communicator, int rank) {
  if (!counts() || !runtime_->doorbell || code != MPI_SUCCESS) return;
  if (rank == MPI_ANY_SOURCE) runtime_->doorbell->expect_all();
  const int world = runtime_->ranks.of(communicator, rank);
  if (world >= 0 && !runtime_->doorbell->expect(world)) runtime_->doorbell->missed(++slot_->misses);
}

void Call::sent_to_no_neighbour(int world, long count, MPI_Datatype type) {
  runtime_->doorbell->missed(++slot_->misses);
  if (runtime_->remote && count > 0) runtime_->remote->ring(world, count, type);
}

void Call::prepared(int code, const MPI_Request* request) {
  if (counts() && code == MPI_SUCCESS) runtime_->persistent.add(*request);
}

void Call::prepared_partitioned(int code, const MPI_Request* request, int partitions) {
  prepared(code, request);
  if (counts() && code == MPI_SUCCESS) runtime_->partitioned.add(*request, partitions);
}

void Call::readied(int code, MPI_Request request, int partitions) {
  if (counts() && code == MPI_SUCCESS && runtime_->partitioned.ready(request, partitions)) runtime_->engine->release();
}

void Call::restarted(int code, int count, const MPI_Request* requests) {
  if (!counts() || code != MPI_SUCCESS || broken("persistent-starts")) return;
  std::uint64_t news = 0;
  for (int i = 0; i < count; ++i) {
    news += runtime_->persistent.activate(requests[i]) ? 1 : 0;
    if (!runtime_->partitioned.empty() && runtime_->partitioned.started(requests[i])) runtime_->engine->hold();
  }
  add(slot_->started, news);
  sent_to_partners(code);
}

void Call::started_alone(int code, const MPI_Request* request) {
  started(code, request);
  if (!counts() || code != MPI_SUCCESS || *request == runtime_->handles.request_null) return;
  runtime_->engine->hold();
  runtime_->file_requests.add(*request);
}

bool Completion::count_freed(int code) {
  const int left = live();
  call_.complete(static_cast<std::uint64_t>(live_ - left));
  if (before_) release_files();
  return left > 0 && code == MPI_SUCCESS && !call_.runtime().persistent.empty();
}

void Completion::release_files() {
  Runtime& runtime = call_.runtime();
  const MPI_Request none = runtime.handles.request_null;
  for (int i = 0; i < count_; ++i) {
    const MPI_Request before = (*before_)[static_cast<std::size_t>(i)];
    const bool ended = before != none && requests_[i] == none;
    if (ended && runtime.file_requests.remove(before)) runtime.engine->release();
  }
}

void Completion::finish(int index) {
  if (call_.runtime().persistent.deactivate(requests_[index])) call_.complete(1);
}

// Nobody will tell when it completes, and until then nobody may poll: so it completes here. It needs no other process
// (those of collective operations must not be freed, MPI 4.1, section 5.12).
void Freeing::complete_file_operation() const {
  if (broken("file-freed") || !call_.runtime().file_requests.remove(before_)) return;
  for (int done = 0; done == 0;)
    if (PE_PMPI(MPI_Request_get_status)(before_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
  call_.runtime().engine->release();
}

void Freeing::free_partitioned() const {
  Runtime& runtime = call_.runtime();
  if (runtime.partitioned.empty() || !runtime.partitioned.has_any_of(1, &before_)) return;
  static std::mutex one_at_a_time;
  {
    const std::scoped_lock lock(one_at_a_time);
    runtime.driver->poll();  // nobody else does: the caller is alone
  }
  if (runtime.partitioned.remove(before_)) runtime.engine->release();
}

void Freeing::done() const {
  if (!call_.counts() || broken("freeing")) return;
  const MPI_Request none = call_.runtime().handles.request_null;
  if (before_ == none || *request_ != none) return;
  free_partitioned();
  const auto state = call_.runtime().persistent.remove(before_);
  if (state != PersistentRequests::State::inactive) call_.complete(1);
}

}  // namespace progress_engine
