// SPDX-License-Identifier: BSD-3-Clause
// Regions of a program, as it names them by MPI_Pcontrol: the same call site in two of them is two. Off unless somebody
// asks, since the standard leaves it to the tool what that function's arguments mean (MPI 4.1, section 15.2.4). Any
// thread: a region is the process's.
#pragma once

#include <cstdint>

namespace progress_engine::profile {

enum class Regions {
  off,
  levels,  // MPI_Pcontrol(7): from here on it is region 7; 0: in none
  names,   // MPI_Pcontrol(1, "solver") begins a region within the one before, MPI_Pcontrol(-1, "solver") ends it (IPM)
};
void set_regions(Regions regions);
// `name`: the second argument of MPI_Pcontrol; read with Regions::names alone.
void pcontrol(int level, const char* name);
std::uint16_t current_region();
// Of a number that current_region gave; "" of 0.
const char* name_of_region(std::uint16_t region);

}  // namespace progress_engine::profile
