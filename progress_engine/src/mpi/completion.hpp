// SPDX-License-Identifier: BSD-3-Clause
// Calls that complete or free requests, and calls that must run beside no poll.
#pragma once

#include <memory>
#include <vector>

#include "mpi/call.hpp"

namespace progress_engine {

// Around a call that must not run beside a poll of this MPI, by one of its quirks: that loses what the poll would move.
class ExclusiveSection {
 public:
  ExclusiveSection(Call& call, bool Quirks::* quirk)
      : ExclusiveSection(call, call.counts() && call.runtime().quirks.*quirk) {}
  // Only if one of the requests is partitioned.
  ExclusiveSection(Call& call, int count, const MPI_Request* requests)
      : ExclusiveSection(call, call.counts() && !call.runtime().partitioned.empty() &&
                                   call.runtime().partitioned.has_any_of(count, requests)) {}
  ~ExclusiveSection() {
    if (call_) call_->end_exclusive();
  }
  ExclusiveSection(const ExclusiveSection&) = delete;
  ExclusiveSection& operator=(const ExclusiveSection&) = delete;

  // A split collective: pending from ..._begin to ..._end.
  void begun(int code) {
    if (call_ && code == MPI_SUCCESS) call_->runtime().engine->begin_exclusive();
  }
  void ended(int code) {
    if (call_ && code == MPI_SUCCESS) call_->runtime().engine->end_exclusive();
  }

 private:
  ExclusiveSection(Call& call, bool needed) : call_(needed ? &call : nullptr) {
    if (call_) call_->begin_exclusive();
  }

  Call* call_;
};

// Around a call that may complete requests. A request that was none and becomes MPI_REQUEST_NULL completed; one that
// stays can only be persistent, and the call's outputs say whether it is done.
class Completion {
 public:
  PE_ALWAYS_INLINE Completion(Call& call, int count, const MPI_Request* requests)
      : call_(call), count_(count), requests_(requests), live_(call.counts() ? live() : 0) {
    if (live_ > 0 && !call.runtime().file_requests.empty()) [[unlikely]]
      before_ = std::make_unique<std::vector<MPI_Request>>(requests, requests + count);
  }

  // Counts the requests that the call freed. True if its outputs are valid and a persistent request may have completed.
  PE_ALWAYS_INLINE bool freed(int code) { return live_ > 0 && count_freed(code); }
  PE_ALWAYS_INLINE void all() {
    some_of([](int) { return true; });
  }
  PE_ALWAYS_INLINE void all_if(int flag) {
    if (flag) all();
  }
  void one(int index) {
    if (index != MPI_UNDEFINED) finish(index);
  }
  void one_if(int flag, int index) {
    if (flag) one(index);
  }
  void some(int count, const int* indices) {
    for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) finish(indices[i]);
  }

 private:
  PE_ALWAYS_INLINE int live() const {
    const MPI_Request none = call_.runtime().handles.request_null;
    int number = 0;
    for (int i = 0; i < count_; ++i) number += requests_[i] != none ? 1 : 0;
    return number;
  }
  bool count_freed(int code);
  void finish(int index);
  void release_files();
  template <typename Which>
  void some_of(Which which) {
    for (int i = 0; i < count_; ++i)
      if (which(i)) finish(i);
  }

  Call& call_;
  int count_;
  const MPI_Request* requests_;
  int live_;                                          // requests that were not MPI_REQUEST_NULL before the call
  std::unique_ptr<std::vector<MPI_Request>> before_;  // null if none is of a file
};

// Around MPI_Request_free: what is freed while active is no longer ours to wait for.
class Freeing {
 public:
  Freeing(Call& call, MPI_Request* request)
      : call_(call), request_(request), before_(call.counts() ? *request : MPI_Request{}) {
    if (call.counts() && !call.runtime().file_requests.empty()) [[unlikely]]
      complete_file_operation();
  }
  // The MPI's own function, if anything is left for it.
  template <typename Native>
  int free(const Native& native) const {
    return is_freed_ ? MPI_SUCCESS : native();
  }
  void done() const;

 private:
  void complete_file_operation();
  void free_partitioned() const;

  Call& call_;
  MPI_Request* request_;
  MPI_Request before_;
  bool is_freed_ = false;
};

}  // namespace progress_engine
