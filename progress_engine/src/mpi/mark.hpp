// SPDX-License-Identifier: BSD-3-Clause
// What `progress-run --strict` looks for when the program has ended: a file in which the engine leaves a mark when MPI
// begins. It is inherited as an open descriptor, which goes into sandboxes that do not show progress-run's process, and
// named as that process's, since some programs close descriptors before they start others.
#pragma once

#include <string>

namespace progress_engine {

inline constexpr const char* mark_variable = "PROGRESS_ENGINE_MARK";

// The variable's value.
std::string describe_mark(int descriptor, const std::string& path);
// Does nothing where the environment names no mark.
void leave_mark();

}  // namespace progress_engine
