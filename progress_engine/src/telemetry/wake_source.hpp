// SPDX-License-Identifier: BSD-3-Clause
// What ends a sleep of an engine thread.
#pragma once

#include <array>
#include <cstdint>

namespace progress_engine {

enum class WakeSource : std::uint8_t { call, traffic, neighbour, timer };
constexpr std::array<const char*, 4> wake_source_names = {"calls", "traffic", "neighbours", "timer"};
// By source.
using WakeCounts = std::array<std::uint64_t, wake_source_names.size()>;

}  // namespace progress_engine
