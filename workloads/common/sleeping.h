// SPDX-License-Identifier: BSD-3-Clause
// Computation replaced by sleep, on a machine with fewer cores than ranks: what is left is communication, its progress,
// and when the program calls MPI. Nothing measured so says what computation and progress take from each other.
#pragma once

#include <cstdint>

#include "common/parameters.h"

namespace workloads {

/// A unit of work that is slept, of whatever it is a unit.
inline constexpr double slept_unit_s = 1e-6;

/// "compute": real or sleep. It stands in the point, so that each record says it. In simulated time only sleep.
Parameter compute_parameter();

/// Whether compute_parameter() is among them.
bool can_sleep(const Parameters& parameters);

bool is_slept(const Json& point, const Parameters& parameters);

/// This thread sleeps `units` times slept_unit_s, from now on.
void sleep_units(std::uint64_t units) noexcept;

}  // namespace workloads
