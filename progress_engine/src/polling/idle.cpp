// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include "core/engine.hpp"
#include "polling/polling_points.hpp"

namespace progress_engine {

void run_idle(Engine& engine, Worker& worker) {
  const Nanoseconds period = microseconds(engine.policy().idle_us);
  while (!engine.stopping()) {
    if (period > 0) {
      engine.sleep(period);
      add(worker.wakes, 1);
    } else {
      sched_yield();
    }
    if (engine.may_poll()) engine.poll(worker);
  }
}

}  // namespace progress_engine
