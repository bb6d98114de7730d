// SPDX-License-Identifier: BSD-3-Clause
// The line of Python that calls MPI. mpi4py is a library between: its address says nothing of the script.
#pragma once

#include <string_view>

namespace progress_engine::profile {

// Whether this is the path of mpi4py's library.
bool is_python_binding(std::string_view path);

// "function() FILE:12" of the calling thread, by Python's C API, which is looked up in the process; of several `frames`
// "inner() FILE:12 < outer() FILE:34". It takes
// Python's lock, which mpi4py gives up around calls of MPI, so that the caller holds none of the profiler's. The text
// stays for ever. Null where the thread is in no Python function.
const char* python_line(int frames);

}  // namespace progress_engine::profile
