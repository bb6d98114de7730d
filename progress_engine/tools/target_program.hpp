// SPDX-License-Identifier: BSD-3-Clause
// What kind of program a command starts, as far as preloading goes.
#pragma once

#include <string>
#include <vector>

namespace progress_engine {

// The file that `command` names, searched for in PATH as execvp does; "" if there is none that can be executed.
std::string find_program(const std::string& command);

// Why the engine cannot be preloaded into the program in `path`, in words that complete "CMD ..."; "" if it can.
// `mpi_library` is the soname of the MPI that the engine was built for.
std::string why_not_preloadable(const std::string& path, const std::string& mpi_library);

}  // namespace progress_engine
