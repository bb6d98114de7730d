// SPDX-License-Identifier: BSD-3-Clause
// What a point of miniFE asks for, and what a solve records. No MPI here.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/grid.h"
#include "common/parameters.h"
#include "common/quantities.h"
#include "minife/calls.h"
#include "minife/method.h"

namespace workloads::minife {

/// nx, ny, nz, iterations: of both programs.
Parameters problem_parameters();
/// Those, and mode, barrier, packets.
const Parameters& solve_parameters();

/// How halo and sums travel.
enum class Mode : std::uint8_t { blocking, overlapped, pipelined };
inline constexpr std::array<std::string_view, 3> mode_names{"blocking", "overlapped", "pipelined"};

// Of a point that obeys the parameters.
Mode mode_of(const Json& point);
/// UsageError where the mode has none that the point asks for.
Reductions reductions_of(const Json& point);
/// The calls that a solve makes with them.
std::vector<Call> calls_of(Reductions reductions);
/// In the order z, y, x: one more an axis than elements.
Triple nodes_of(const Json& point, const Parameters& parameters);

/// What is counted of the packets of a call.
inline constexpr std::array<std::string_view, 4> traffic_names{"packets_in", "packets_out", "bytes_in", "bytes_out"};

/// elapsed_s, comp_s, comm_s, cpu_s, iterations, the seconds of every call, and its packets.
const Quantities& solver_quantities();
/// The quantity among them that has the seconds of this call.
std::string_view seconds_of(Call call);

// The nodes of the grid cut for the ranks as miniFE cuts them: ranks and nodes halved again and again, across z first,
// then y, then x. Other than a process grid it takes any number of ranks, and a block can have several neighbours on
// one side. No MPI here.

/// A box of nodes for each rank, axes in the order z, y, x. UsageError if one would have none.
std::vector<Box> bisect(const Triple& nodes, int ranks);

/// Everybody whose nodes touch those of `rank`, with what goes there and comes from there, in the places of a Layout
/// of its box.
std::vector<HaloPart> neighbours_of(const std::vector<Box>& boxes, int rank);

/// The nodes of `rank`, in the places of its Layout, whose neighbours are all its own: what can be computed before the
/// halo has arrived. Empty if there are none.
Box without_neighbours(const Box& mine, const Triple& nodes);

}  // namespace workloads::minife
