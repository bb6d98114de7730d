// SPDX-License-Identifier: BSD-3-Clause
// Functions that the engine wraps and the program's MPI lacks. The engine wraps what the mpi.h that it was built with
// declares; an older release of that MPI, or a foreign one, may have less. Bindings ask by a weak reference or by dlsym
// whether a function is there, and would find the wrapper.
#pragma once

namespace progress_engine {

// The names of the generated wrappers, each with its PMPI_ twin; ends with null.
extern const char* const wrapped_functions[] __attribute__((visibility("hidden")));

// Makes the wrappers of absent functions invisible: to look-ups from now on (dlsym, libraries loaded later), and in the
// weak references that are bound already. Does nothing before the MPI is loaded, and only once. It is done when the
// engine is loaded, for programs that are linked with their MPI, and else when the program begins MPI or calls what is
// absent. What a program found before, and what it names by a strong reference, stays: such a call fails.
void hide_absent_functions();

// What such a call reaches: says which function of MPI is missing, once, and gives one that does nothing but tell
// MPI_COMM_WORLD's error handler, as for any other error, and return MPI_ERR_OTHER. Null for other names, and where
// there is no MPI.
void* stand_in_for_absent(const char* name);

}  // namespace progress_engine
