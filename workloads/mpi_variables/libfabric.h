// SPDX-License-Identifier: BSD-3-Clause
// What libfabric, where the MPI has loaded it, says of the environment variables that its providers read.
#pragma once

#include <string>

namespace workloads {

// "NAME = VALUE" of a variable that is set and that a provider has, else "NAME: " and why not.
std::string libfabric_line(const std::string& name);

}  // namespace workloads
