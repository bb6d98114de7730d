// SPDX-License-Identifier: BSD-3-Clause
// User-level threads and kernel threads: what an engine does for them, the parameters of those who have them, and many
// of them at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/experiment.h"

namespace workloads {

// What an engine that is loaded into this process does for user-level threads; found by its symbols.

/// Whether a blocking MPI call of a user-level thread suspends that thread alone.
bool engine_suspends_user_level_threads();

/// "remove" or "reinsert": how they wait from the next call on. False where no engine can be told so.
bool set_engine_waiting(const std::string& method);

// The parameters that the benchmarks of this folder share.

Parameter threading_parameter(std::vector<std::string> choices);
Parameter count_parameter(const std::string& name, const Json& default_value);
Parameter cores_parameter();
Parameter bytes_parameter(std::int64_t default_value);
Parameter mat_size_parameter();

/// The point's "cores", or as many as CPUs on which this process may run.
std::size_t workers_of(const Json& point, const Parameters& parameters);

// Many tasks at once: a kernel thread each, or user-level threads on a few kernel threads that steal from each other.

/// A task: body(i). Must not throw.
using Body = std::function<void(std::size_t)>;

/// Runs body(0) ... body(count - 1), each in a kernel thread of its own, none before all are there. Returns the seconds
/// from then until all are done. std::system_error if there can be no such thread.
double run_kernel_threads(std::size_t count, const Body& body);

/// The same with user-level threads on `workers` kernel threads, dealt out in turn.
double run_user_level_threads(std::size_t workers, std::size_t count, const Body& body);

/// In a user-level thread: runs body(0) ... body(count - 1) in others, and waits for them. Of Boost.Fiber alone.
void run_beside(std::size_t count, const Body& body);

/// In a user-level thread: lets others run. Its kernel thread may be another one afterwards.
void yield_user_level_thread();

/// In a user-level thread: which of the `workers` runs it now.
std::size_t this_worker();

}  // namespace workloads
