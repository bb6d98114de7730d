// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine.hpp"
#include "polling/polling_points.hpp"

namespace progress_engine {

void run_timer(Engine& engine, Worker& worker) {
  const Nanoseconds period = microseconds(engine.policy().timer_us);
  while (!engine.stopping()) {
    engine.sleep(period);
    add(worker.wakes, 1);
    if (engine.may_poll()) engine.poll(worker);
  }
}

}  // namespace progress_engine
