// SPDX-License-Identifier: BSD-3-Clause
// CPU time and context switches by thread role: the application's thread, and all other threads of the process (the
// engine's or the MPI's own).
#pragma once

namespace workloads {

struct Switches {
  long voluntary = 0;
  long involuntary = 0;

  bool operator==(const Switches&) const = default;
};

struct Usage {
  double cpu_s = 0;      ///< all threads
  Switches application;  ///< the calling thread
  Switches other;        ///< all but the calling thread, ended threads included
};

Switches thread_switches() noexcept;

/// Since the start of the process. Call it from the application's thread. About 1 us.
Usage read_usage() noexcept;

Usage operator-(const Usage& end, const Usage& begin) noexcept;

}  // namespace workloads
