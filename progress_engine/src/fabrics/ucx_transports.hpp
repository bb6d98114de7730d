// SPDX-License-Identifier: BSD-3-Clause
// Whether UCX's feature WAKEUP makes it choose other transports between nodes: some of them have no descriptor, and UCX
// leaves those out of what wakes.
#pragma once

#include <string>

namespace progress_engine {

// What ucp_init_version gets.
struct UcxInit {
  unsigned major;
  unsigned minor;
  const void* parameters;
};

// A sentence if UCX chooses otherwise with the parameters of `more` than with those of `asked`, or cannot say; "" if
// both are the same. `prefix`: of the configuration that the MPI has read, may be null.
//
// Both are tried out, as ucx_info does: a context, a worker, and an endpoint to itself, without shared memory and
// without the transport to oneself, so that a network is what is left. Nothing is sent, and all of it is gone again.
std::string what_changes(const UcxInit& asked, const UcxInit& more, const char* prefix);

// The transports, and what each is used for, in the text that UCX prints of an endpoint.
std::string transports_in(const std::string& text);

}  // namespace progress_engine
