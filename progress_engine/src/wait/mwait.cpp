// SPDX-License-Identifier: BSD-3-Clause
// Waits for a bell with the CPU's own instruction: a neighbour's while something is pending, else the program's next
// start of an operation. Where the CPU has none it is a short loop of pauses.
//
// While something is pending the timer stands behind the bell: between nodes nobody stores into our line. With nothing
// pending a long wait in user mode would only keep the CPU from others: it goes over into a futex.
#include <algorithm>

#include "core/engine.hpp"
#include "wait/wait.hpp"

namespace progress_engine {

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
  add(worker.wakes, 1);
}

}  // namespace progress_engine
