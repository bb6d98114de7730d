// SPDX-License-Identifier: BSD-3-Clause
#include "core/atomics.hpp"

#include <sched.h>

namespace progress_engine {

void RealAtomics::relax(int rounds) {
  constexpr int patience = 64;  // some microseconds; who holds a lock for longer is not running
  if (rounds < patience)
    cpu_relax();
  else
    sched_yield();
}

}  // namespace progress_engine
