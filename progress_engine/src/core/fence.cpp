// SPDX-License-Identifier: BSD-3-Clause
#include "core/fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/breakable.hpp"

namespace progress_engine {

std::atomic<bool> light_fence_is_full{true};

namespace {
bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }
}  // namespace

void prepare_fences() {
  if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) light_fence_is_full = false;
}

void heavy_fence() {
  if (broken("heavy-fence")) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!light_fence_is_full.load(std::memory_order_relaxed)) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

}  // namespace progress_engine
