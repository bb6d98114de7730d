// SPDX-License-Identifier: BSD-3-Clause
// The preset `offload` from MPI_Init to MPI_Finalize, exit or fork.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mpi/offload.hpp"
#include "platform/platform.hpp"
#include "policy/settings.hpp"
#include "telemetry/report.hpp"

namespace progress_engine::offload {

// The interposer that has loaded this library, and what it was given.
const OffloadHost& host();
const OffloadLibrary& library();

// ---- see OffloadLibrary

using Begin = std::function<int(int* provided)>;
int initialise(const Policy& policy, const Begin& begin, std::string& problem);
using End = std::function<int()>;
int finalise(const End& end);
void watch_gpus(LookForGpu look);
void pause(Nanoseconds limit);
void after_fork_in_child();
bool is_main_thread();
std::optional<OffloadReport> describe();

}  // namespace progress_engine::offload
