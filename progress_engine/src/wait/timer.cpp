// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine.hpp"
#include "wait/wait.hpp"

namespace progress_engine {

void wait_timer(Engine& engine, Worker& worker) {
  engine.sleep(microseconds(engine.policy().timer_us));
  add(worker.wakes, 1);
}

}  // namespace progress_engine
