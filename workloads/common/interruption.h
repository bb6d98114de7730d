// SPDX-License-Identifier: BSD-3-Clause
// SIGTERM and SIGINT ask for a clean end: the sampler looks between repetitions, all ranks agree, the end line says so.
#pragma once

namespace workloads {

/// From now on the first SIGTERM or SIGINT only sets a flag; a second one kills as usual, because a rank that hangs in
/// MPI never looks at the flag.
void watch_for_interruption();

/// Whether this process has been asked to end.
bool is_interrupted() noexcept;

}  // namespace workloads
