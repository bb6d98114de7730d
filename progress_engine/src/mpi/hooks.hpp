// SPDX-License-Identifier: BSD-3-Clause
// What the interposed functions do around the MPI's own. Each operation counts once: nested calls (an MPI or a tool
// that calls MPI_* itself) are told by a per-thread depth.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/breakable.hpp"
#include "core/inlining.hpp"
#include "mpi/mpi_handles.hpp"
#include "mpi/mpi_header.hpp"
#include "mpi/runtime.hpp"
#include "mpi/symbols.hpp"

#define PE_INTERPOSED extern "C" __attribute__((visibility("default")))

namespace progress_engine {

// Inlining is asked for: thousands of wrappers in one file exhaust what the compiler allows itself, and these few
// instructions are what a call of the program pays.

// An argument as the calling convention passes it: an integer, a handle or a pointer, in one register or stack slot.
using Word = std::intptr_t;

// The argument as what mpi.h declares it to be.
template <typename Type>
Type as(Word word) {
  if constexpr (std::is_pointer_v<Type>)
    return reinterpret_cast<Type>(word);
  else
    return static_cast<Type>(word);
}

// A call of the program; the thread counts as inside MPI while it lives. Costs one load while the engine is inactive.
class Call {
 public:
  PE_ALWAYS_INLINE Call() : runtime_(active_runtime.load(std::memory_order_acquire)) {
    if (runtime_) enter();
  }
  PE_ALWAYS_INLINE ~Call() {
    if (runtime_) leave();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // True for the outermost call of an active engine: the one that counts.
  PE_ALWAYS_INLINE bool counts() const { return runtime_ && (outer_ == 0 || broken("depth")); }
  Runtime& runtime() const { return *runtime_; }
  // Nobody polls until the call releases it, or is left by longjmp.
  void hold() {
    ++slot_->holds;
    runtime_->engine->hold();
  }
  void release() {
    --slot_->holds;
    runtime_->engine->release();
  }
  PE_ALWAYS_INLINE void complete(std::uint64_t operations) { add(slot_->completed, operations); }

  // The call made a request of one operation.
  PE_ALWAYS_INLINE void started(int code, const MPI_Request* request) {
    if (counts() && code == MPI_SUCCESS && *request != runtime_->handles.request_null) add(slot_->started, 1);
  }
  // The same of a file operation, beside which nobody may poll until it has completed.
  void started_alone(int code, const MPI_Request* request);
  // Others may reach into a window at any time, and only progress here answers them.
  void window_made(int code) {
    if (!counts() || code != MPI_SUCCESS) return;
    ++runtime_->windows;
    if (!broken("windows")) runtime_->engine->activity().add_standing();
  }
  // One that came to be while the engine was inactive was not counted.
  void window_freed(int code) {
    if (!counts() || code != MPI_SUCCESS || runtime_->windows.fetch_sub(1) <= 0) return;
    if (!broken("windows")) runtime_->engine->activity().remove_standing();
  }
  // Null: wait as the MPI does. Nobody polls for sleepers while something holds the engine off.
  PE_ALWAYS_INLINE ManagedWaits* managed_waits() const {
    const bool polled = counts() && !runtime_->engine->paused() && !runtime_->engine->held();
    return polled ? runtime_->waits.get() : nullptr;
  }
  // The thread sleeps in this call until the engine has completed what it waits for, and is in nobody's way.
  void sleeps() {
    runtime_->engine->activity().add_standing();
    slot_->change_depth(ThreadSlot::outside);
    runtime_->engine->after_call();
  }
  void awakes() {
    slot_->change_depth(-ThreadSlot::outside);
    runtime_->engine->activity().remove_standing();
  }
  // ---- the doorbell
  // The call sent `count` elements of `type` to a rank: its engine may sleep.
  PE_ALWAYS_INLINE void sent(int code, MPI_Comm communicator, int rank, long count = 0, MPI_Datatype type = {}) {
    if (!counts() || !runtime_->doorbell || code != MPI_SUCCESS) return;
    const int world = runtime_->ranks.of(communicator, rank);
    if (world < 0) return;
    if (runtime_->doorbell->ring(world)) [[likely]]
      add(slot_->rings, 1);
    else
      sent_to_no_neighbour(world, count, type);
  }
  // The call made a request for messages from a rank, or to it later.
  void expects(int code, MPI_Comm communicator, int rank);
  // The call started something with all ranks of a communicator.
  void sent_to_all(int code) {
    if (counts() && runtime_->doorbell && code == MPI_SUCCESS) runtime_->doorbell->ring_partners(true);
  }
  void sent_to_partners(int code) {
    if (counts() && runtime_->doorbell && code == MPI_SUCCESS) runtime_->doorbell->ring_partners();
  }
  void communicator_gone() {
    if (runtime_) runtime_->ranks.forget();
  }

  // The call made a persistent request; nothing is pending yet.
  void prepared(int code, const MPI_Request* request);
  // The same of a partitioned one: `partitions` of a send, 0 of a receive. See mpi/partitioned.hpp.
  void prepared_partitioned(int code, const MPI_Request* request, int partitions);
  // These partitions of a send may go.
  void readied(int code, MPI_Request request, int partitions);
  // The call started persistent requests.
  void restarted(int code, int count, const MPI_Request* requests);

 private:
  // Constants where possible: else each call would wait for the store of the one before.
  PE_ALWAYS_INLINE void set_depth(int depth) { slot_->depth.store(depth, std::memory_order_release); }
  PE_ALWAYS_INLINE void enter() {
    slot_ = &this_thread_slot(*runtime_);
    outer_ = slot_->depth.load(std::memory_order_relaxed);
    if (outer_ == 0) [[likely]]
      enter_first();
    else
      enter_again();
  }
  PE_ALWAYS_INLINE void enter_first() {
    set_depth(1);
    slot_->mark = &mark_;
  }
  void enter_again();
  void sent_to_no_neighbour(int world, long count, MPI_Datatype type);
  PE_ALWAYS_INLINE void leave() {
    if (outer_ != 0) [[unlikely]] {
      set_depth(outer_);
      return;
    }
    set_depth(0);
    runtime_->engine->after_call();
  }

  Runtime* runtime_;
  ThreadSlot* slot_ = nullptr;
  int outer_ = 0;  // the depth around this call
  std::uintptr_t mark_ = reinterpret_cast<std::uintptr_t>(&mark_);
};

// Around a poll: what the MPI's progress calls itself (MPI-IO in MPICH, through its public functions) is nobody's
// operation, whichever thread polls.
class Uncounted {
 public:
  Uncounted() {
    if (Runtime* runtime = active_runtime.load(std::memory_order_acquire))
      slot_ = &this_thread_slot(*runtime, Owner::engine);
    if (slot_) slot_->change_depth(ThreadSlot::outside);
  }
  ~Uncounted() {
    if (slot_) slot_->change_depth(-ThreadSlot::outside);
  }
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;

 private:
  ThreadSlot* slot_ = nullptr;
};

// Around a call that must not run beside a poll. File operations of Open MPI: its progress walks the list of pending
// ones without a lock, so that a poll beside a call that changes or walks the list crashes (seen in 5.0.11, in
// mca_common_ompio_progress). That loses little anywhere: files progress by the kernel or inside the completing call.
// And starts of partitioned operations, see mpi/partitioned.hpp.
class Alone {
 public:
  explicit Alone(Call& call) : Alone(call, call.counts()) {}
  // Only if one of the requests is partitioned.
  Alone(Call& call, int count, const MPI_Request* requests)
      : Alone(call, call.counts() && !call.runtime().partitioned.empty() &&
                        call.runtime().partitioned.has_any_of(count, requests)) {}
  ~Alone() {
    if (call_) call_->release();
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

  // A split collective: pending from ..._begin to ..._end.
  void begun(int code) {
    if (call_ && code == MPI_SUCCESS) call_->runtime().engine->hold();
  }
  void ended(int code) {
    if (call_ && code == MPI_SUCCESS) call_->runtime().engine->release();
  }

 private:
  Alone(Call& call, bool needed) : call_(needed ? &call : nullptr) {
    if (call_) call_->hold();
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
  Freeing(Call& call, const MPI_Request* request)
      : call_(call), request_(request), before_(call.counts() ? *request : MPI_Request{}) {
    if (call.counts() && !call.runtime().file_requests.empty()) [[unlikely]]
      complete_file_operation();
  }
  void done() const;

 private:
  void complete_file_operation() const;
  void free_partitioned() const;

  Call& call_;
  const MPI_Request* request_;
  MPI_Request before_;
};

}  // namespace progress_engine
