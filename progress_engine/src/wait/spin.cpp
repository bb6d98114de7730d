// SPDX-License-Identifier: BSD-3-Clause
#include "wait/wait.hpp"

namespace progress_engine {

void wait_spin(Engine& /*engine*/, Worker& /*worker*/) {}

}  // namespace progress_engine
