// SPDX-License-Identifier: BSD-3-Clause
// How the kernel schedules an engine thread, and that it gives it no signals of the program's.
#pragma once

#include <pthread.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <optional>

#include "platform/breakable.hpp"
#include "platform/platform.hpp"

namespace progress_engine {

struct Scheduling {
  bool idle_class = false;  // SCHED_IDLE
  int slice_us = 0;         // 0: the scheduler's own
  int nice = 0;
};

// Applies to the calling thread and sets its timer slack to 1 ns. Returns the slice as the kernel says it is
// (sched_getattr), none where the kernel does not know slices. What the kernel refuses is left as it was. A real-time
// thread keeps its class and priority: below the program's it might hold the MPI's locks and never run.
std::optional<Nanoseconds> schedule_this_thread(const Scheduling& wanted);

// Whether the calling thread runs in a real-time class (SCHED_FIFO, SCHED_RR), and so what it starts: with
// SCHED_RESET_ON_FORK nothing inherits it.
bool in_real_time_class();

// Before threads are started that poll `without_pause`: in a real-time class, which they inherit, they would leave
// their CPUs to nobody else. Then it throws std::runtime_error.
void refuse_beside_real_time(bool without_pause);

// Whether this process may lift threads out of the idle class again; tried on a thread of its own.
bool can_lift_from_idle_class();

// Lifts an idle-class thread of this process to the normal class: it holds what we wait for, and may otherwise not run
// for long. Needs CAP_SYS_NICE or RLIMIT_NICE; without them nothing happens.
void lift_from_idle_class(int tid, int slice_us);
// Puts the calling thread back.
void return_to_idle_class();

// The slice that a normal thread gets when it asks for `wanted`; tried on a thread of its own.
std::optional<Nanoseconds> probe_slice(Nanoseconds wanted);

// Engine threads run none of the program's signal handlers: threads inherit what their creator blocks. But what a
// thread's own instruction raises stays open: blocked, it would end the process past the program's crash handler.
class ProgramSignalsBlocked {
 public:
  ProgramSignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    if (broken("signals")) sigemptyset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
      if (!broken("crash-signals")) sigdelset(&blocked, own);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~ProgramSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  ProgramSignalsBlocked(const ProgramSignalsBlocked&) = delete;
  ProgramSignalsBlocked& operator=(const ProgramSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// How every thread of the engine's begins, whichever part it belongs to.

// Starts a thread that calls `body`, out of which nothing may be thrown. It runs none of the program's signal handlers,
// has the floating-point mode of its creator, and may run wherever the process may (cpus_of_process()): the creator may
// be bound to one CPU, on which it computes. Its stack is as large as the program's own may become, or unlimited_stack:
// the MPI may call the program's operations there, which in Fortran have arrays on it. `name` begins with "pe-": so
// ComputingThreads knows whose it is. Throws std::system_error.
pthread_t start_engine_thread(const char* name, std::function<void()> body);
inline constexpr std::size_t unlimited_stack = 256UL << 20;  // of addresses; memory is taken page by page

// Waits for its end, `limit` at most, whatever happens to the time of day. False if it has not come. Once for a thread.
bool join_engine_thread(pthread_t thread, Nanoseconds limit);

}  // namespace progress_engine
