// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include "wait/wait.hpp"

namespace progress_engine {

void wait_yield(Engine& /*engine*/, Worker& /*worker*/) { sched_yield(); }

}  // namespace progress_engine
