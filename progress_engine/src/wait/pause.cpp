// SPDX-License-Identifier: BSD-3-Clause
#include "core/atomics.hpp"
#include "wait/wait.hpp"

namespace progress_engine {
void wait_pause(Engine& /*engine*/, Worker& /*worker*/) {
  constexpr int hints = 64;  // of 40 to 140 cycles each: about a microsecond or two
  for (int i = 0; i < hints; ++i) cpu_relax();
}

}  // namespace progress_engine
