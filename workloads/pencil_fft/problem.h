// SPDX-License-Identifier: BSD-3-Clause
// What a point asks for: which fields, cut for how many ranks in which grid, and how their transposes travel. No MPI
// here.
#pragma once

#include <string_view>

#include "common/parameters.h"
#include "pencil_fft/pencils.h"

namespace workloads::pencil_fft {

inline constexpr const char* whole_fields = "fftw";  ///< the mode of one rank

struct Cut {
  int chunks = 1;
  bool nonblocking = false;  ///< a chunk's messages are on their way beside what follows, until the next stage
};

const Parameters& parameters();

// All of a point that obeys the parameters.
int number(const Json& point, std::string_view name);
Field field_of(const Json& point);
Cut cut_of(const Json& point);
/// UsageError where the ranks cannot be the grid that the point asks for.
ProcessGrid grid_of(const Json& point, int ranks);
bool of_whole_fields(const Json& point);
/// Each field a stage behind the one before it; else one after another.
bool is_pipelined(const Json& point);

}  // namespace workloads::pencil_fft
