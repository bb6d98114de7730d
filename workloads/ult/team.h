// SPDX-License-Identifier: BSD-3-Clause
// Many tasks at once: a kernel thread each, or user-level threads on a few kernel threads that steal from each other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace workloads {

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
