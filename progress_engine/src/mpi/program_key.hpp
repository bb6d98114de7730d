// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace progress_engine {

// A text that is the same for all processes that one mpiexec started on this node, and for no others that run now: what
// the launcher says of the job or, where it says nothing, who the launcher is. Asked without a call of MPI.
std::string program_key();

}  // namespace progress_engine
