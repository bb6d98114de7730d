// SPDX-License-Identifier: BSD-3-Clause
// The preset `offload` from MPI_Init to MPI_Finalize, exit or fork.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "core/clock.hpp"
#include "policy/settings.hpp"

namespace progress_engine::offload {

// Starts the communication thread, which begins the MPI, whatever the program asked for: it may
// then call from all its threads. Returns the MPI's code. Throws std::system_error if no thread can be started.
// `begin(&provided)` is the MPI's own beginning; MPI_THREAD_FUNNELED is enough.
using Begin = std::function<int(int* provided)>;
int initialise(const Policy& policy, const Begin& begin);

// The program's MPI_Finalize. Ends the program with a sentence if other threads still wait in MPI calls.
// `end` is the MPI's own.
using End = std::function<int()>;
int finalise(const End& end);

// Without the MPI: the program exits or aborts. The thread is given `limit` to end.
void deactivate(Nanoseconds limit);
// Calls nothing of the MPI from here on, unless the program does: see Agent::pause().
void pause(Nanoseconds limit);
void after_fork_in_child();

// Whether the caller is the thread that called MPI_Init.
bool is_main_thread();

// For the report: what the communication thread did, null if there never was one.
nlohmann::ordered_json describe();
nlohmann::ordered_json describe_thread();
// Its scheduling slice; null where the kernel does not say.
nlohmann::ordered_json describe_slice();

}  // namespace progress_engine::offload
