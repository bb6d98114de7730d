// SPDX-License-Identifier: BSD-3-Clause
// The adapter for Boost.Fiber: a library of its own, loaded into programs that have Boost.Fiber in them.
#include <boost/fiber/context.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/fiber/scheduler.hpp>
#include <new>

#include "progress_engine/progress_engine.h"

namespace {

namespace fibers = boost::fibers;

// Opened once, waited at by at most one fiber. What promise and future do, without the allocation, and without making
// the kernel thread that opens it one of Boost.Fiber's.
class Gate {
 public:
  void wait() {
    fibers::detail::spinlock_lock lock(lock_);
    if (open_) return;
    waiting_ = fibers::context::active();
    waiting_->suspend(lock);  // gives the lock back once the fiber is off its stack
  }

  void open() {
    fibers::context* waiting = nullptr;
    {
      const fibers::detail::spinlock_lock lock(lock_);
      open_ = true;
      waiting = waiting_;
    }
    // A fiber that found the gate open is gone, with the gate; one that waits stays until this.
    if (waiting) waiting->get_scheduler()->schedule_from_remote(waiting);
  }

 private:
  fibers::detail::spinlock lock_;
  bool open_ = false;
  fibers::context* waiting_ = nullptr;
};

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): constinit, so nothing runs
constinit const pe_ult_adapter adapter = {
    "boost.fiber",
    sizeof(Gate),
    nullptr,  // a fiber is whoever runs on another stack: asking Boost would make each kernel thread a scheduler
    [](void* gate) { new (gate) Gate; },
    [](void* gate) { static_cast<Gate*>(gate)->wait(); },
    [](void* gate) { static_cast<Gate*>(gate)->open(); },
    [] { boost::this_fiber::yield(); },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const pe_ult_adapter* pe_get_ult_adapter() { return &adapter; }
