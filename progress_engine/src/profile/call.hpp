// SPDX-License-Identifier: BSD-3-Clause
// A call of the program's while it is profiled: when it began, who made it, and what it starts or completes. Nothing is
// sent, nothing is polled: the MPI progresses as it does without.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "platform/platform.hpp"
#include "profile/message_log.hpp"
#include "profile/site_table.hpp"

namespace progress_engine::profile {

// Regions of a program, as it names them by MPI_Pcontrol: the same call site in two of them is two. Off unless somebody
// asks, since the standard leaves it to the tool what that function's arguments mean (MPI 4.1, section 15.2.4). Any
// thread: a region is the process's.

enum class Regions {
  off,
  levels,  // MPI_Pcontrol(7): from here on it is region 7; 0: in none
  names,   // MPI_Pcontrol(1, "solver") begins a region within the one before, MPI_Pcontrol(-1, "solver") ends it (IPM)
};
void set_regions(Regions regions);
// `name`: the second argument of MPI_Pcontrol; read with Regions::names alone.
void pcontrol(int level, const char* name);
std::uint16_t current_region();
// Of a number that current_region gave; "" of 0.
const char* name_of_region(std::uint16_t region);

// By the index that call sites have; generated, profiled.cpp.
extern const char* const function_names[];

// Of one thread: how long it was inside MPI so far, which of its calls is the outermost.
struct ThreadClock {
  int depth = 0;
  Nanoseconds inside = 0;
  Nanoseconds left = 0;  // when it came out of the last call
  CallSite blocked;      // in that call, where it blocked; no address: it did not
  Nanoseconds blocked_for = 0;
};

// All that is kept of a process.
struct Profile {
  SiteTable sites;
  MessageLog messages;
  PendingTable requests;
  PendingTable persistent;            // by handle what starts of it will be
  PendingTable windows;               // whose epoch holds accesses that no synchronisation has completed yet
  std::atomic<Nanoseconds> began{0};  // 0: it has not
  std::atomic<Nanoseconds> ended{0};
  std::atomic<Nanoseconds> inside{0};  // all threads, outermost calls
};
Profile& profile();

// From the end of MPI_Init on; until MPI_Finalize begins.
extern std::atomic<bool> counting __attribute__((visibility("hidden")));
extern constinit thread_local ThreadClock clock_of_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

// Where the program called: past the frames of the MPI's own libraries (Fortran's call those of C) and of this one; of
// Python its line. `caller`: the return address of the interposed function. As many frames as `set_depth` says, 1
// unless it was called: before anything is counted.
CallSite site_of(const void* caller, std::uint16_t function);
void set_depth(int frames);
// Which libraries are the MPI's, anew: those of names that begin with libmpi, and this one; and which is Python's
// binding.
void look_at_libraries();

// Lives as long as the call.
class Call {
 public:
  Call(std::uint16_t function, const void* caller)
      : clock_(clock_of_thread),
        caller_(caller),
        function_(function),
        counts_(clock_.depth++ == 0 && counting.load(std::memory_order_relaxed)) {
    if (counts_) enter();
  }
  ~Call() {
    --clock_.depth;
    if (counts_) leave();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Only of the outermost call of a thread; the others are the MPI's own, or a tool's.
  bool counts() const { return counts_; }
  std::uint16_t function() const { return function_; }

  // ---- of a call that succeeded
  // It sends or receives the next message of a stream, or each, or starts its next collective operation; before what
  // follows.
  void with(const Stream& stream);
  void started(std::uint64_t request, std::uint64_t bytes);
  // A persistent request: each start of it moves so much.
  void prepared(std::uint64_t request, std::uint64_t bytes, std::optional<Stream> stream = {});
  void restarted(std::uint64_t request);
  void freed(std::uint64_t request);
  void cancelled(std::uint64_t request);
  void accessed(std::uint64_t window, std::uint64_t bytes);
  void synchronised(std::uint64_t window);
  void blocked(std::uint64_t bytes);

 private:
  friend class Completing;

  void enter();
  void leave();
  // When the MPI's own function had returned: asked once.
  Nanoseconds returned();
  CallSite site() const { return site_of(caller_, function_); }
  // The part of a pending operation's life that its thread passed outside of MPI.
  Nanoseconds computed(const Pending& pending) const;

  ThreadClock& clock_;
  const void* caller_;
  std::uint16_t function_;
  bool counts_;
  Nanoseconds entered_ = 0;
  Nanoseconds returned_ = 0;
  Messages messages_{};
};

// Around a call that may complete requests; `handles` are its bits.
class Completing {
 public:
  template <typename Request>
  Completing(Call& call, int count, const Request* requests) : call_(call) {
    for (int i = 0; call.counts() && i < count; ++i) expect(i, (std::uint64_t)requests[i]);  // a pointer or an integer
  }
  ~Completing();
  Completing(const Completing&) = delete;
  Completing& operator=(const Completing&) = delete;

  // Which it has completed, by their places.
  void all() { all_if(1); }
  void all_if(int flag) {
    for (auto& one : expected_) one.done = flag != 0;
  }
  void one(int index) { one_if(1, index); }
  void one_if(int flag, int index) {
    for (auto& one : expected_) one.done = one.done || (flag != 0 && one.index == index);
  }
  // No index is negative but MPI_UNDEFINED, and no count.
  void some(int count, const int* indices) {
    for (int i = 0; i < count; ++i) one(indices[i]);
  }

 private:
  struct Expected {
    int index;
    std::uint64_t handle;
    Pending pending;
    bool done;
  };
  void expect(int index, std::uint64_t handle);

  Call& call_;
  std::vector<Expected> expected_;
};

// The line of Python that calls MPI. mpi4py is a library between: its address says nothing of the script.

// Whether this is the path of mpi4py's library.
bool is_python_binding(std::string_view path);

// "function() FILE:12" of the calling thread, by Python's C API, which is looked up in the process; of several `frames`
// "inner() FILE:12 < outer() FILE:34". It takes
// Python's lock, which mpi4py gives up around calls of MPI, so that the caller holds none of the profiler's. The text
// stays for ever. Null where the thread is in no Python function.
const char* python_line(int frames);

}  // namespace progress_engine::profile
