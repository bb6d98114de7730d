// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include "core/engine.hpp"
#include "polling/polling_points.hpp"
#include "wait/wait.hpp"

namespace progress_engine {

void run_dedicated(Engine& engine, Worker& worker) {
  const auto wait = wait_strategy(engine.policy().wait);
  while (!engine.stopping()) {
    if (engine.paused()) {  // off means off: it must not take the CPU either
      engine.park(worker);
      continue;
    }
    if (engine.may_poll())
      engine.poll(worker);
    else if (engine.held())  // who holds it off may need this very CPU to go on
      sched_yield();
    wait(engine, worker);
  }
}

}  // namespace progress_engine
