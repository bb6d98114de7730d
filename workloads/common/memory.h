// SPDX-License-Identifier: BSD-3-Clause
// Whether there is memory for what is asked, before any of it is touched: Linux grants more than it has.
#pragma once

#include <string>

namespace workloads {

/// UsageError, which begins with `what` ("class D"), unless every rank can have `bytes_a_rank`: of its node's memory,
/// shared with the other ranks there, and within its limit of address space. Collective.
void require_memory(const std::string& what, double bytes_a_rank);

}  // namespace workloads
