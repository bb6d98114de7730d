// SPDX-License-Identifier: BSD-3-Clause
// Functions of the fabrics' libraries that an MPI asks dlsym for: Intel MPI does for fi_fabric, MVAPICH2 for
// libibverbs'.
#pragma once

namespace progress_engine {

// From now on the calls of dlsym in the library that holds `code`, and no others, find the interposed functions. Before
// that library asks for them, and once; where its table cannot be changed it goes on as before, and what it opened so
// is not seen. x86-64 alone, for which these MPIs are.
void answer_lookups_of(const void* code);

}  // namespace progress_engine
