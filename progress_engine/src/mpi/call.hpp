// SPDX-License-Identifier: BSD-3-Clause
// The program's calls and the engine's polls, side by side: what the interposed functions do around the MPI's own, and
// what exists while they do. Each operation counts once: nested calls (an MPI or a tool that calls MPI_* itself) are
// told by a per-thread depth.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine.hpp"
#include "mpi/gpu.hpp"
#include "mpi/managed_wait.hpp"
#include "mpi/mpi_handles.hpp"
#include "mpi/mpi_header.hpp"
#include "mpi/offload.hpp"
#include "mpi/progress.hpp"
#include "mpi/quirks.hpp"
#include "mpi/requests.hpp"
#include "platform/breakable.hpp"

namespace progress_engine {

// What exists while the engine is active, and stays for the report until it is activated again.
struct Runtime {
  unsigned generation = 0;  // tells it from earlier ones at the same address
  MpiHandles handles;
  PersistentRequests persistent;
  // While their operations are pending nobody may poll, on an MPI that cannot bear it (Quirks::files_alone): on others
  // none is put here.
  FewHandles<MPI_Request> file_requests;
  FewHandles<MPI_Win> shared_windows;  // see Call::window_made()
  PartitionedRequests<MPI_Request> partitioned;
  Origin origin = Origin::world;
  const Quirks quirks = quirks_of_this_mpi();
  std::atomic<bool> had_windows{false};
  std::atomic<int> windows{0};                    // made less freed, as far as seen
  std::unique_ptr<ManagedWaits> waits;            // null: the program waits as its MPI does
  SwitchingProgressFunction* progress = nullptr;  // the engine's
  std::atomic<const GpuKind*> gpu{nullptr};       // for whose sake polling ended, see mpi/gpu.hpp
  RankCache ranks;
  NearRanks near;                            // behind it
  std::atomic<std::uint64_t> neighbours{0};  // when these answered
  RankCache sizes;                           // of datatypes, see mpi/partner.hpp
  long eager_bytes = 0;                      // the policy's, at hand: read in each start of a message
  Doorbell* doorbell = nullptr;              // the engine's; null: nobody is rung
  std::unique_ptr<Engine> engine;
  bool stopped = false;      // all threads ended
  bool ended = false;        // they did, and the progress function is gone
  bool left_behind = false;  // a thread did not end in time: nothing of this may be freed
};

// Null while the engine is inactive: before MPI_Init and after MPI_Finalize, in a forked child, with the preset `off`,
// without the thread level that its polling points need.
extern std::atomic<Runtime*> active_runtime __attribute__((visibility("hidden")));

// Read in every call: the initial-exec model makes that one instruction.
struct ThreadBinding {
  unsigned generation = 0;
  ThreadSlot* slot = nullptr;
};
extern constinit thread_local ThreadBinding this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
ThreadSlot& bind_this_thread(Runtime& runtime, Owner owner);

// The calling thread's slot in the active engine; given back when the thread ends.
PE_ALWAYS_INLINE ThreadSlot& this_thread_slot(Runtime& runtime, Owner owner = Owner::program) {
  if (this_thread.generation != runtime.generation) [[unlikely]]
    return bind_this_thread(runtime, owner);
  return *this_thread.slot;
}

// ---- the program's calls

// Inlining is asked for: thousands of wrappers in one file exhaust what the compiler allows itself, and these few
// instructions are what a call of the program pays.

// Asked first in every interposed call: with the preset `off`, or before MPI_Init, there is nothing between the program
// and its MPI but this and a jump.
PE_ALWAYS_INLINE bool anything_active() {
  const auto offload = reinterpret_cast<std::uintptr_t>(offload_in_use.load(std::memory_order_acquire));
  return (offload | reinterpret_cast<std::uintptr_t>(active_runtime.load(std::memory_order_acquire))) != 0;
}

// The routes of the preset offload if the call goes to its communication thread, see mpi/offload.hpp.
PE_ALWAYS_INLINE const Routes* handed_over(const void* caller) {
  const OffloadLibrary* library = offload_in_use.load(std::memory_order_acquire);
  return library && library->takes(caller) ? library->routes : nullptr;
}

// Calls a route with arguments that are still words.
template <typename... Parameters, typename... Words>
int hand_over(int (*route)(Parameters...), Words... words) {
  return route(as<Parameters>(words)...);
}

// A call in which an engine does nothing but hand it over. `route`: where in Routes its way stands, in bytes; arguments
// are whole words there, too.
template <typename... Words>
[[gnu::noinline]] int pass_on(Next<int (*)(Words...)>& next, const void* caller, std::size_t route, Words... words) {
  const Routes* routes = handed_over(caller);
  if (!routes) return next.get()(words...);
  int (*way)(Words...) = nullptr;
  std::memcpy(&way, reinterpret_cast<const char*>(routes) + route, sizeof way);
  return way(words...);
}

// A call of the program; the thread counts as inside MPI while it lives. Costs one load while the engine is inactive.
// Where the MPI suspends user-level threads, the call may end on another kernel thread than it began on, and others may
// begin meanwhile where it did.
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
  void begin_exclusive() {
    slot_->exclusive_sections.fetch_add(1, std::memory_order_relaxed);
    runtime_->engine->begin_exclusive();
  }
  void end_exclusive() {
    slot_->exclusive_sections.fetch_sub(1, std::memory_order_relaxed);
    runtime_->engine->end_exclusive();
  }
  PE_ALWAYS_INLINE void complete(std::uint64_t operations) {
    runtime_->engine->activity().note_completion(slot(), operations);
  }

  // The call made a request of one operation.
  PE_ALWAYS_INLINE void started(int code, const MPI_Request* request) {
    if (counts() && code == MPI_SUCCESS && *request != runtime_->handles.request_null)
      Activity::note_start(slot(), 1, Activity::unbounded);
  }
  // The same of a message of `count` elements of `type`, at most, that no partner waits to hear of.
  PE_ALWAYS_INLINE void started_message(int code, const MPI_Request* request, long count, MPI_Datatype type) {
    if (!counts() || code != MPI_SUCCESS || *request == runtime_->handles.request_null) return;
    const auto weight = weight_of(count, type);
    if (weight == Activity::unbounded) add(slot().long_messages, 1);
    Activity::note_start(slot(), 1, weight);
  }
  // The same of a file operation: some MPIs may not be polled until it has completed.
  void started_exclusive(int code, const MPI_Request* request);
  // Others may reach into a window at any time, and only progress here answers them. Not of one of shared memory: they
  // load and store.
  void window_made(int code, bool shared, const MPI_Win* window) {
    if (!counts() || code != MPI_SUCCESS) return;
    if (shared) {
      runtime_->shared_windows.add(*window);
      return;
    }
    ++runtime_->windows;
    runtime_->had_windows.store(true, std::memory_order_relaxed);
    if (!broken("windows")) runtime_->engine->activity().add_progress_user();
    runtime_->engine->expect_connections();
  }
  // One that came to be while the engine was inactive was not counted.
  void window_freed(int code, MPI_Win window) {
    if (!counts() || code != MPI_SUCCESS || runtime_->shared_windows.remove(window)) return;
    auto number = runtime_->windows.load();
    while (number > 0 && !runtime_->windows.compare_exchange_weak(number, number - 1)) {
    }
    if (number <= 0) return;
    if (!broken("windows")) runtime_->engine->activity().remove_progress_user();
  }
  // An operation into another's window began, and calls that wait for such took this long.
  PE_ALWAYS_INLINE void reached_window() {
    if (counts()) add(slot().window_operations, 1);
  }
  void waited_for_window(Nanoseconds time) { add(slot().window_wait, static_cast<std::uint64_t>(time)); }
  // Null: wait as the MPI does. Nobody polls for sleepers while something holds the engine off, and a user-level thread
  // that sleeps would keep others from its kernel thread: an MPI that knows them lets others run.
  PE_ALWAYS_INLINE ManagedWaits* managed_waits() const {
    const bool polled = counts() && !runtime_->engine->paused() && !runtime_->engine->in_exclusive_section();
    return polled && runtime_->waits && is_on_own_stack(&mark_) ? runtime_->waits.get() : nullptr;
  }
  // The thread sleeps in this call until the engine has completed what it waits for, and is in nobody's way.
  void sleeps() {
    runtime_->engine->activity().add_progress_user();
    slot_->change_depth(ThreadSlot::outside);
    runtime_->engine->after_call(*slot_);
  }
  void awakes() {
    slot_->change_depth(-ThreadSlot::outside);
    runtime_->engine->activity().remove_progress_user();
  }
  // ---- the doorbell
  // Null: nobody is rung in this call.
  PE_ALWAYS_INLINE Doorbell* doorbell() const { return counts() ? runtime_->doorbell : nullptr; }
  // Whoever this is will be sent something: its engine may sleep.
  PE_ALWAYS_INLINE bool ring(int world, WakeupLine::Ring why) const {
    const bool near = runtime_->doorbell->ring(world, why);
    if (near) add(slot().rings, 1);
    return near;
  }
  // The call sent something to a rank: its engine may sleep.
  PE_ALWAYS_INLINE void sent(int code, MPI_Comm communicator, int rank) {
    if (!counts() || !runtime_->doorbell || code != MPI_SUCCESS || rank < 0) return;
    const int world = world_rank(communicator, rank);
    if (world < 0 || !ring(world, WakeupLine::Ring::sent)) [[unlikely]]
      missed();
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
  // Negative if it is none, or on another node, as far as is known.
  PE_ALWAYS_INLINE int world_rank(MPI_Comm communicator, int rank) const {
    if (rank < 0 || communicator == runtime_->handles.comm_world) return rank;
    const auto key = runtime_->ranks.key_of((std::uint64_t)communicator, rank);  // a pointer or an integer
    const int known = runtime_->ranks.find(key);
    return known != RankCache::unknown ? known : ask_world_rank(communicator, rank, key);
  }
  int ask_world_rank(MPI_Comm communicator, int rank, std::uint64_t key) const;
  // Negative if it is none, or if the MPI would have to be asked.
  PE_ALWAYS_INLINE int known_world_rank(MPI_Comm communicator, int rank) const {
    if (rank < 0 || communicator == runtime_->handles.comm_world) return rank;
    return runtime_->ranks.find(runtime_->ranks.key_of((std::uint64_t)communicator, rank));
  }
  // The same of a rank of the communicator or window with these bits, remembered under the key; `group_of` asks the MPI
  // for its group.
  template <typename GroupOf>
  int learn_world_rank(std::uint64_t handle, int rank, std::uint64_t key, GroupOf&& group_of) const {
    const auto neighbours = runtime_->doorbell->neighbours();
    auto found = runtime_->near.find(handle, rank, neighbours);
    if (!found) {
      MPI_Group group{};
      if (group_of(&group) != MPI_SUCCESS) return -1;
      found = runtime_->near.add(handle, rank, neighbours, near_ranks_of(&group));
    }
    runtime_->ranks.remember(key, *found);
    return *found;
  }
  // A partner was not known as a neighbour: it may be one.
  void missed() const;
  // A communicator or window is gone, and its handle may come again.
  void handle_gone(std::uint64_t handle) {
    if (!runtime_) return;
    runtime_->ranks.forget();
    runtime_->near.forget(handle);
  }

  // The call made a persistent request; nothing is pending yet.
  void prepared(int code, const MPI_Request* request);
  // After that: each of its starts will concern all ranks.
  void prepared_with_all(int code, const MPI_Request* request);
  // The same of a partitioned one: `partitions` of a send, 0 of a receive. See PartitionedRequests.
  void prepared_partitioned(int code, const MPI_Request* request, int partitions);
  // These partitions of a send may go.
  void readied(int code, MPI_Request request, int partitions);
  // The call started persistent requests.
  void restarted(int code, int count, const MPI_Request* requests);

 private:
  // Frees the group.
  std::vector<NearRanks::Pair> near_ranks_of(MPI_Group* group) const;
  // Of a message, see Activity::needs_progress().
  PE_ALWAYS_INLINE std::uint64_t weight_of(long count, MPI_Datatype type) const {
    const long limit = runtime_->eager_bytes;
    if (limit == 0 || count > limit) return Activity::unbounded;
    int size = 0;
    if (count > 0) PE_PMPI(MPI_Type_size)(type, &size);  // an empty message's type may be anything
    return size >= 0 && count * size <= limit ? static_cast<std::uint64_t>(count * size) : Activity::unbounded;
  }
  // Whether a user-level thread is in this call and has gone on on another kernel thread.
  PE_ALWAYS_INLINE bool moved() const { return kernel_thread() != thread_; }
  // The kernel thread's that runs this code: counters have one writer.
  PE_ALWAYS_INLINE ThreadSlot& slot() const {
    if (moved()) [[unlikely]]
      return slot_here();
    return *slot_;
  }
  ThreadSlot& slot_here() const;
  // Constants where possible: else each call would wait for the store of the one before.
  PE_ALWAYS_INLINE void set_depth(int depth) { slot_->depth.store(depth, std::memory_order_release); }
  PE_ALWAYS_INLINE void enter() {
    slot_ = &this_thread_slot(*runtime_);
    thread_ = kernel_thread();
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
  void leave_among_others();
  PE_ALWAYS_INLINE void leave() {
    if (moved() || slot_->several_callers) [[unlikely]] {
      leave_among_others();
      return;
    }
    if (outer_ != 0) [[unlikely]] {
      set_depth(outer_);
      return;
    }
    set_depth(0);
    runtime_->engine->after_call(*slot_);
  }

  Runtime* runtime_;
  ThreadSlot* slot_ = nullptr;  // of the kernel thread on which the call began
  std::uintptr_t thread_ = 0;   // that one
  int outer_ = 0;               // the depth around this call; 0 for each user-level thread's outermost one
  std::uintptr_t mark_ = reinterpret_cast<std::uintptr_t>(&mark_);
};

// What a call that frees it gets; null where none of the engine's is called.
template <typename Handle>
Handle handle_before(const Call& call, const Handle* handle) {
  return call.counts() && handle ? *handle : Handle{};
}

// The same out of line, for the calls that take longer than that by far: hundreds of wrappers are compiled in half the
// time.
class RareCall : public Call {
 public:
  RareCall();
  ~RareCall();
  // A wrapper names its kind of call: nothing is called through the base.
  // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method)
  void started(int code, const MPI_Request* request);
  void sent(int code, MPI_Comm communicator, int rank);
  // NOLINTEND(bugprone-derived-method-shadowing-base-method)
};

// Around a call that makes a window: where the MPI refuses one at the level that the engine has raised
// (Quirks::windows_below_multiple), it says so before the communicator's error handler ends the program.
class NewWindow {
 public:
  NewWindow(const Call& call, MPI_Comm communicator);
  // What the program gets in place of `code`.
  int made(int code);

 private:
  MPI_Comm communicator_;
  MPI_Errhandler handler_{};  // the program's
  bool held_ = false;         // until made()
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

// The engine's progress function. What the MPI's progress calls itself (MPI-IO in MPICH, through its public functions)
// is no operation of the program's.
class ProgramProgressFunction : public SwitchingProgressFunction {
 public:
  ProgramProgressFunction(std::vector<std::unique_ptr<NamedProgressFunction>> candidates, Runtime& runtime)
      : SwitchingProgressFunction(std::move(candidates)), runtime_(runtime) {}
  void poll() override {
    if (gpus && refuse_gpu()) return;
    const Uncounted uncounted;
    SwitchingProgressFunction::poll();
    if (waits) waits->look();
  }

  ManagedWaits* waits = nullptr;
  std::optional<GpuSupport> gpus;  // none where only the program's threads poll, or the MPI knows no GPUs
  BesideGpus beside_gpus = BesideGpus::refuse;

 private:
  // Libraries are loaded at any time.
  bool refuse_gpu();

  Runtime& runtime_;
};

}  // namespace progress_engine
