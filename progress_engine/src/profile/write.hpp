// SPDX-License-Identifier: BSD-3-Clause
// The file that a profiled process leaves: analysis/where.py reads it.
#pragma once

#include <optional>
#include <string>

#include "profile/clocks.hpp"

namespace progress_engine::profile {

struct Process {
  int rank = -1;
  int size = 0;  // of the world
  std::string folder;
  std::optional<ClockReading> clock_first;  // when it began and when it ended; none: nobody compared them
  std::optional<ClockReading> clock_last;
};

// FOLDER/profile.HOST.PROCESS.json, once; says on stderr why it cannot be written.
void write(const Process& process);

}  // namespace progress_engine::profile
