// SPDX-License-Identifier: BSD-3-Clause
// What an engine that is loaded into this process does for user-level threads; found by its symbols.
#pragma once

#include <string>

namespace workloads {

/// Whether a blocking MPI call of a user-level thread suspends that thread alone.
bool engine_suspends_user_level_threads();

/// "remove" or "reinsert": how they wait from the next call on. False where no engine can be told so.
bool set_engine_waiting(const std::string& method);

}  // namespace workloads
