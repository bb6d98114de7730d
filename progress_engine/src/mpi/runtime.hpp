// SPDX-License-Identifier: BSD-3-Clause
// The engine inside an MPI process: from the first MPI_Init or MPI_Session_init to the last end, exit or fork.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "mpi/call.hpp"
#include "mpi/status.hpp"

namespace progress_engine {

// ---- activation; the caller (lifecycle.cpp) sees to it that no two threads do it at once

// The settings' policy, or none with the reason in status(): then nothing of MPI is to be changed.
std::optional<Policy> read_policy();
// What the policy watches beside time. Sockets that exist now are not the MPI's, and what UCX and libfabric are asked
// for they are asked when the MPI begins: call before it is initialised. Null in `events` if that is nothing. False if
// it cannot be had (no descriptor is left, say), with the reason in status().
bool prepare_event_source(const Policy& policy, std::unique_ptr<EventSource>& events);
// Starts the engine in an MPI at MPI_THREAD_MULTIPLE, or at any level if only the program's calls poll. Failures leave
// it inactive with the reason in status().
void activate(const Policy& policy, std::unique_ptr<EventSource> events, Origin origin);

// The exit status of a program that may not run without the engine.
constexpr int refused = 2;

// Stops the threads and, if `limit` is `join_timeout`, frees what the MPI holds of the engine's; may be called for the
// one limit and later for the other.
void deactivate(Nanoseconds limit);
// Before the process or the MPI is torn down: from then on no thread of the engine's calls the MPI. One that does is
// waited for, `exit_timeout` at most. What the MPI holds of the engine's stays, since MPI_Finalize may come.
void fall_silent();
// From now on, an exit without MPI_Finalize and a fork are seen. May be called again.
void register_ends();

// MPI_THREAD_SINGLE -> "single" and so on; "unknown" before MPI_Init.
const char* level_name(int level);

}  // namespace progress_engine
