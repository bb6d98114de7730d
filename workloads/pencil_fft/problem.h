// SPDX-License-Identifier: BSD-3-Clause
// What a point asks for: which fields, cut for how many ranks in which grid, and how their transposes travel. No MPI
// here.
#pragma once

#include <string_view>

#include "common/parameters.h"
#include "pencil_fft/stages.h"

namespace workloads::pencil_fft {

inline constexpr const char* whole_fields = "fftw";  ///< the mode of one rank

const Parameters& parameters();

// All of a point that obeys the parameters.
int number(const Json& point, std::string_view name);
Field field_of(const Json& point);
Cut cut_of(const Json& point);
/// UsageError where the ranks cannot be the grid that the point asks for.
ProcessGrid grid_of(const Json& point, int ranks);
/// grid_of(), and UsageError where the point cannot be run by so many ranks.
ProcessGrid require_grid(const Json& point, int ranks);
bool of_whole_fields(const Json& point);
/// Each field a stage behind the one before it; else one after another.
bool is_pipelined(const Json& point);
/// Forward and backward, of all fields and ranks: 5 N log2 N for a complex transform of N points, half of it for a real
/// one.
double operations_of(const Json& point);

}  // namespace workloads::pencil_fft
