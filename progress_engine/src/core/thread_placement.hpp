// SPDX-License-Identifier: BSD-3-Clause
// Where the threads run that make progress, as the settings `placement` and `cpus` say.
#pragma once

#include <cstddef>
#include <string>

#include "platform/placement.hpp"
#include "policy/settings.hpp"

namespace progress_engine {

struct ThreadPlacement {
  Placement how{};
  std::string cpus;                   // of Placement::list
  std::size_t computing_threads = 1;  // that the program's environment announces

  ThreadPlacement() = default;
  // By a thread of the program, which may change its environment later.
  explicit ThreadPlacement(const Policy& policy);
};

// Binds the calling thread. What the kernel refuses is left as it was: the report tells where each thread may run.
// Returns the CPUs among which there may be spare ones.
Cpus place_this_thread(const ThreadPlacement& placement);

}  // namespace progress_engine
