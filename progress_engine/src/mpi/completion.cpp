// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/completion.hpp"

#include <cstdint>
#include <mutex>

namespace progress_engine {

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
    if (ended && runtime.file_requests.remove(before)) runtime.engine->end_exclusive();
  }
}

void Completion::finish(int index) {
  if (call_.runtime().persistent.deactivate(requests_[index])) call_.complete(1);
}

// Nobody will tell when it completes, and until then nobody may poll: so it completes here. It needs no other process
// (those of collective operations must not be freed, MPI 4.1, section 5.12). MPI_Test, which frees it: in MPICH 4.0
// MPI_Request_get_status does not move such a request, and never ends it.
void Freeing::complete_file_operation() {
  if (broken("file-freed") || !call_.runtime().file_requests.remove(before_)) return;
  for (int done = 0; done == 0;)
    if (PE_PMPI(MPI_Test)(request_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
  is_freed_ = *request_ == call_.runtime().handles.request_null;
  call_.runtime().engine->end_exclusive();
}

void Freeing::free_partitioned() const {
  Runtime& runtime = call_.runtime();
  if (runtime.partitioned.empty() || !runtime.partitioned.has_any_of(1, &before_)) return;
  static std::mutex one_at_a_time;
  {
    const std::scoped_lock lock(one_at_a_time);
    runtime.progress->poll();  // nobody else does: the caller is alone
  }
  if (runtime.partitioned.remove(before_)) runtime.engine->end_exclusive();
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
