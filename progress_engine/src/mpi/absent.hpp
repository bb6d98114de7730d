// SPDX-License-Identifier: BSD-3-Clause
// Functions that the engine wraps and the program's MPI lacks. The engine wraps what the mpi.h that it was built with
// declares; an older release of that MPI, or a foreign one, may have less. Bindings ask by a weak reference or by dlsym
// whether a function is there, and would find the wrapper.
#pragma once

namespace progress_engine {

// The names of the generated wrappers, each with its PMPI_ twin; ends with null.
extern const char* const wrapped_functions[] __attribute__((visibility("hidden")));

// Makes the wrappers of absent functions invisible: to look-ups from now on (dlsym, libraries loaded later), and in the
// weak references that are bound already. Call once the MPI is loaded; only the first call does anything. What a
// program found before, and what it names by a strong reference, stays: calls of that end in missing_symbol().
void hide_absent_functions();

}  // namespace progress_engine
