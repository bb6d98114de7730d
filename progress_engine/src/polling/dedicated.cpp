// SPDX-License-Identifier: BSD-3-Clause
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
    if (engine.may_poll()) engine.poll(worker);
    wait(engine, worker);
  }
}

}  // namespace progress_engine
