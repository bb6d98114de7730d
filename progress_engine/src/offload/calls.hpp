// SPDX-License-Identifier: BSD-3-Clause
// The ways in which a call of the program goes to the communication thread; what the generated routes use.
#pragma once

#include <atomic>
#include <cstring>
#include <new>
#include <type_traits>

#include "mpi/mpi_handles.hpp"
#include "mpi/mpi_header.hpp"
#include "offload/operation.hpp"
#include "offload/table.hpp"

namespace progress_engine::offload {

// How blocking collective calls are made: as nonblocking ones; as they are, on the communication thread, where no other
// thread of the program can call meanwhile; or as they are, by who calls, where the MPI lets several threads call at
// once. A blocking collective operation matches no nonblocking one (MPI 4.1, section 6.12): see
// docs/explanation/offload.md.
enum class CollectiveCalls { nonblocking, blocking, by_caller };

// Exists from MPI_Init to MPI_Finalize; all members may be used by any thread unless they say otherwise.
struct Process {
  Process(const CommunicationThreadPolicy& policy, std::unique_ptr<EventSource> events)
      : communication_thread(policy, std::move(events)), table(handles, proxies) {}

  MpiHandles handles;
  Pool<Proxy> proxies;
  CommunicationThread communication_thread;
  Table table;  // the communication thread's
  std::atomic<std::size_t> inline_bytes{Proxy::inline_room};
  bool callers_take_turns = false;  // the MPI permits that threads call in turn
  CollectiveCalls collectives = CollectiveCalls::nonblocking;
};

// Null while calls stay in their threads.
extern std::atomic<Process*> active_process __attribute__((visibility("hidden")));
inline Process& process() { return *active_process.load(std::memory_order_acquire); }

// The MPI's own request behind one of the program's; on the communication thread.
MPI_Request real_of(MPI_Request request);
bool is_none(MPI_Request request);

// ---- 1. executed as it is; the caller waits
// On the communication thread.
int execute(int (*call)(void*), void* closure);
template <typename Call>
int execute(Call call) {
  return execute([](void* closure) { return (*static_cast<Call*>(closure))(); }, static_cast<void*>(&call));
}

// The same in the caller's thread, while the communication thread stands still: for calls that run callbacks of the
// program, which may want a lock that the caller holds (Python's). Where the MPI provides less than
// MPI_THREAD_SERIALIZED, and where that thread has stood down, as execute().
int borrow(int (*call)(void*), void* closure);
template <typename Call>
int borrow(Call call) {
  return borrow([](void* closure) { return (*static_cast<Call*>(closure))(); }, static_cast<void*>(&call));
}

// A call that waits for nobody ("local" in MPI 4.1, section 2.4): by the caller between two turns of the communication
// thread, which costs no switch of threads; as borrow() where that thread is busy.
int local(int (*call)(void*), void* closure);
template <typename Call>
int local(Call call) {
  return local([](void* closure) { return (*static_cast<Call*>(closure))(); }, static_cast<void*>(&call));
}

// From the first to the second this thread makes its calls itself: it is a rank of its own (MPIX_Threadcomm of MPICH).
extern constinit thread_local bool makes_own_calls __attribute__((tls_model("initial-exec"), visibility("hidden")));
template <typename Call>
int start_own_calls(Call call) {
  const int code = call();
  makes_own_calls = code == MPI_SUCCESS;
  return code;
}
template <typename Call>
int end_own_calls(Call call) {
  makes_own_calls = false;
  return call();
}

// ---- 2. a blocking call: started as its nonblocking form, the caller waits for the request
// `with_error`: MPI_ERROR is set in the status, see Quirks.
int complete(const char* name, Start start, void* closure, MPI_Status* status, bool with_error);
template <typename Call>
int complete(const char* name, MPI_Status* status, Call call, bool with_error = false) {
  return complete(
      name, [](void* closure, MPI_Request* real) { return (*static_cast<Call*>(closure))(real); }, &call, status,
      with_error);
}
// Whether a collective one stays what it is; and such a call, after all that was handed over before.
inline bool collectives_block() { return process().collectives != CollectiveCalls::nonblocking; }
int collective(int (*call)(void*), void* closure);
template <typename Call>
int collective(Call call) {
  return collective([](void* closure) { return (*static_cast<Call*>(closure))(); }, static_cast<void*>(&call));
}
// A call that waits for other processes and has no nonblocking form. Where threads of the program may call at once its
// caller makes it, as a collective one: the other processes may first need what another thread does. Elsewhere as
// execute() or borrow().
template <typename Call>
int execute_waiting(Call call) {
  return process().collectives == CollectiveCalls::by_caller ? collective(call) : execute(call);
}
template <typename Call>
int borrow_waiting(Call call) {
  return process().collectives == CollectiveCalls::by_caller ? collective(call) : borrow(call);
}
// Two at once, the first of which gives the status.
int complete_both(Start first, void* first_closure, Start second, void* second_closure, MPI_Status* status,
                  bool with_error);
// A callback that runs on the communication thread calls `name`, which would wait for that thread itself: the end.
[[noreturn]] void refuse_callback(const char* name);

// ---- 3. a nonblocking call
// The program's request for `proxy`, which was taken from the pool.
Proxy& take_proxy();
void launch(Proxy& proxy, MPI_Request* request);
// Returns before the call is executed. What the MPI finds wrong with it is told when the request completes.
template <typename Call>
int start_in(Proxy& proxy, MPI_Request* request, Call call) {
  static_assert(std::is_trivially_copyable_v<Call> && sizeof(Call) <= Proxy::room);
  std::memcpy(proxy.arguments.data(), &call, sizeof call);
  proxy.start = [](void* closure, MPI_Request* real) { return (*static_cast<Call*>(closure))(real); };
  launch(proxy, request);
  return MPI_SUCCESS;
}
template <typename Call>
int start_later(MPI_Request* request, Call call) {
  return start_in(take_proxy(), request, call);
}
// Returns when it is started, with the MPI's own result.
int start_now(Start start, void* closure, MPI_Request* request, bool persistent, int partitions = 0,
              std::uint64_t order = 0);
template <typename Call>
int start_now(MPI_Request* request, Call call) {
  return start_now([](void* closure, MPI_Request* real) { return (*static_cast<Call*>(closure))(real); }, &call,
                   request, false);
}
// The same of a collective operation of `file`, see Table::test_in_order().
template <typename File, typename Call>
int start_in_order(File file, MPI_Request* request, Call call) {
  return start_now([](void* closure, MPI_Request* real) { return (*static_cast<Call*>(closure))(real); }, &call,
                   request, false, 0, (std::uint64_t)file);  // a pointer or an integer
}
// A generalised request: its callbacks are called by the thread that completes, cancels or waits, as without the
// engine.
int start_general(Start start, void* closure, MPI_Request* request);
template <typename Call>
int start_general(MPI_Request* request, Call call) {
  return start_general([](void* closure, MPI_Request* real) { return (*static_cast<Call*>(closure))(real); }, &call,
                       request);
}
int complete_general(MPI_Request request, int (*complete)(MPI_Request));
// A persistent request: made, not started.
template <typename Call>
int prepare(MPI_Request* request, Call call, int partitions = 0) {
  return start_now([](void* closure, MPI_Request* real) { return (*static_cast<Call*>(closure))(real); }, &call,
                   request, true, partitions);
}
// These partitions of a send may go: `call(real)` tells the MPI.
void made_ready(MPI_Request request, int partitions);
template <typename Call>
int ready(MPI_Request request, int partitions, Call call) {
  const int code = local([&] {
    const int result = call(real_of(request));
    if (result == MPI_SUCCESS) made_ready(request, partitions);
    return result;
  });
  active_process.load(std::memory_order_acquire)->communication_thread.rouse();
  return code;
}
// A receive that is complete here: the program has not waited for it yet, but to the MPI its request is inactive, which
// MPICH 4.0 refuses to look at.
bool is_complete(MPI_Request request);
// Whether a partition has arrived: `call(real)` asks the MPI.
template <typename Call>
int arrived(MPI_Request request, int* flag, Call call) {
  return local([&]() -> int {
    if (!is_complete(request)) return call(real_of(request));
    *flag = 1;
    return MPI_SUCCESS;
  });
}
// `real_cancel` is the MPI's own MPI_Cancel. What it has completed is known to the next call that asks, as without the
// engine.
int cancel(MPI_Request request, int (*real_cancel)(MPI_Request*));

// ---- 4. a blocking call that can be tried again and again
int attempt(bool (*try_once)(void*, int*), void* closure);
// `call(&flag)` is the nonblocking form; done once the flag is set or it fails.
template <typename Call>
int attempt(Call call) {
  return attempt(
      [](void* closure, int* code) {
        int flag = 0;
        *code = (*static_cast<Call*>(closure))(&flag);
        return flag != 0 || *code != MPI_SUCCESS;
      },
      &call);
}
// The result of a try at a probe. It cancels nothing, but the MPICH family leaves that part of the status as it was.
int probed(MPI_Status* status, const int* flag, int code, int (*set_cancelled)(MPI_Status*, int));

// How an offloaded call fills the program's statuses. A null pointer, too, stands for a status that nobody wants.

// The two names for no status differ in some MPIs.
inline bool is_wanted(const MPI_Status* status) {
  return status && status != MPI_STATUS_IGNORE && status != MPI_STATUSES_IGNORE;  // NOLINT(misc-redundant-expression)
}

// What a call with one status gives: its MPI_ERROR is not ours to change (MPI 4.1, section 3.2.5).
inline void give(MPI_Status* status, const MPI_Status& value) {
  if (!is_wanted(status)) return;
  const int error = status->MPI_ERROR;
  *status = value;
  status->MPI_ERROR = error;
}

// What one with several gives. MPI_ERROR is set also where all went well: some MPIs do, and programs read it.
inline void give_with(int error, MPI_Status* status, const MPI_Status& value) {
  if (!is_wanted(status)) return;
  *status = value;
  status->MPI_ERROR = error;
}

}  // namespace progress_engine::offload
