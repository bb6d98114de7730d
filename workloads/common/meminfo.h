// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <istream>

namespace workloads {

/// What processes can still have of this node's memory: MemAvailable in the text of /proc/meminfo, in bytes; infinite
/// if it does not say.
double parse_available_bytes(std::istream& text);

}  // namespace workloads
