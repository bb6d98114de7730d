// SPDX-License-Identifier: BSD-3-Clause
// What a thread has used, as the kernel counts it; and what ends a sleep of an engine thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "telemetry/fields.hpp"

namespace progress_engine {

struct ThreadUsage {
  PE_FIELDS(PE_THREAD_USAGE)
};

// Of a thread of this process that still runs. What cannot be read stays at its initial value.
ThreadUsage usage_of_thread(int tid);

enum class WakeSource : std::uint8_t { call, traffic, neighbour, timer };
constexpr std::array<const char*, 4> wake_source_names = {"calls", "traffic", "neighbours", "timer"};
// By source.
using WakeCounts = std::array<std::uint64_t, wake_source_names.size()>;

}  // namespace progress_engine
