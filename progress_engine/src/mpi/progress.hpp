// SPDX-License-Identifier: BSD-3-Clause
// What makes an MPI progress from another thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/progress.hpp"
#include "mpi/mpi_handles.hpp"

namespace progress_engine {

// Where the progress function gets a communicator of this process alone: from MPI_COMM_SELF, which exists once MPI_Init
// was called, or from a session of its own. That asks for MPI_THREAD_MULTIPLE, and is opened before the program's; or
// for nothing where the program's threads alone poll (`plain_session`), and is opened after it.
enum class Origin { world, session, plain_session };

// The progress functions that the loaded library has the symbols for, best first; `wanted` is the setting "driver".
// Call after the MPI gave the level that those who poll need, destroy before it ends. Throws std::runtime_error if
// there is none.
std::vector<std::unique_ptr<NamedProgressFunction>> make_progress_functions(const std::string& wanted,
                                                                            const MpiHandles& handles, Origin origin);

}  // namespace progress_engine
