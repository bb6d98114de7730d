// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine.hpp"
#include "wait/wait.hpp"

namespace progress_engine {

void wait_futex(Engine& engine, Worker& worker) {
  if (engine.may_poll()) return;
  engine.park(worker);
  add(worker.wakes, 1);
}

}  // namespace progress_engine
