// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace progress_engine {

// The MPI library of this build, e.g. "libmpi.so.12". In a file of its own: the other files are then the same for each
// MPI, and compiled once.
const char* built_for();

}  // namespace progress_engine
