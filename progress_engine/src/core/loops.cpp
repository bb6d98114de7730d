// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include <algorithm>
#include <stdexcept>

#include "core/event_loop.hpp"
#include "wait/user_wait.hpp"

namespace progress_engine {
namespace {

// ---- how the dedicated thread waits between two polls

using WaitFunction = void (*)(Engine&, Worker&);

void wait_spin(Engine& /*engine*/, Worker& /*worker*/) {}

void wait_timer(Engine& engine, Worker& worker) {
  engine.sleep(microseconds(engine.policy().timer_us));
  worker.woke(WakeSource::timer);
}

// Waits for a doorbell with the CPU's own instruction: a neighbour's while something is pending, else the program's
// next start of an operation. Where the CPU has none it is a short loop of pauses.
//
// While something is pending the timer stands behind the doorbell: between nodes nobody stores into our line. With
// nothing pending a long wait in user mode would only keep the CPU from others: it goes over into a futex.
void wait_mwait(Engine& engine, Worker& worker) {
  constexpr Nanoseconds pausing = microseconds(20);  // without an instruction
  const Nanoseconds period = microseconds(engine.policy().timer_us);
  const bool instruction = wait_instruction() != WaitInstruction::pause;
  if (engine.may_poll()) {
    const Nanoseconds bound = instruction ? period : std::min(period, pausing);
    if (Doorbell* doorbell = engine.doorbell())
      user_wait(doorbell->own().word(), 0, bound, wait_instruction());
    else
      engine.watch(worker, [] { return false; }, bound);
    return;
  }
  engine.watch(worker, [&] { return engine.may_poll(); }, instruction ? period : pausing);
  if (engine.may_poll()) return;
  engine.park(worker);
}

// Settings refuse the combinations that have none (Wait::epoll belongs to points=events).
WaitFunction wait_function(Wait wait) {
  switch (wait) {
    case Wait::spin:
      return wait_spin;
    case Wait::timer:
      return wait_timer;
    case Wait::mwait:
      return wait_mwait;
    case Wait::epoll:
      break;
  }
  throw std::logic_error("a dedicated thread has no such wait");
}

}  // namespace

void run_dedicated(Engine& engine, Worker& worker) {
  const auto wait = wait_function(engine.policy().wait);
  constexpr unsigned turns_an_observation = 64;  // it may spin
  for (unsigned turn = 0; !engine.stopping(); ++turn) {
    if (turn % turns_an_observation == 0 || engine.policy().wait == Wait::timer) engine.observe(worker);
    if (engine.paused()) {  // off means off: it must not take the CPU either
      engine.park(worker);
      continue;
    }
    if (engine.may_poll())
      engine.poll(worker);
    else if (engine.in_exclusive_section())  // who holds it off may need this very CPU to go on
      sched_yield();
    wait(engine, worker);
  }
}

void run_timer(Engine& engine, Worker& worker) {
  const Nanoseconds period = microseconds(engine.policy().timer_us);
  while (!engine.stopping()) {
    engine.sleep(period);
    worker.woke(WakeSource::timer);
    engine.observe(worker);
    if (engine.may_poll()) engine.poll(worker);
  }
}

void run_idle(Engine& engine, Worker& worker) {
  const Nanoseconds period = microseconds(engine.policy().idle_us);
  while (!engine.stopping()) {
    if (period > 0) {
      engine.sleep(period);
      worker.woke(WakeSource::timer);
    } else {
      sched_yield();
    }
    engine.observe(worker);
    if (engine.may_poll()) engine.poll(worker);
  }
}

void run_events(Engine& engine, Worker& worker) { EventLoop(engine, worker).run(); }

}  // namespace progress_engine
