// SPDX-License-Identifier: BSD-3-Clause
// How every thread of the engine's begins, whichever part it belongs to.
#pragma once

#include <pthread.h>

#include <functional>

namespace progress_engine {

// Starts a thread that calls `body`, out of which nothing may be thrown. It runs none of the program's signal handlers,
// has the floating-point mode of its creator, and may run wherever the process may (cpus_of_process()): the creator may
// be bound to one CPU, on which it computes. `name` begins with "pe-": so ComputingThreads knows whose it is. Throws
// std::system_error.
pthread_t start_engine_thread(const char* name, std::function<void()> body);

}  // namespace progress_engine
