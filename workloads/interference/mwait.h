// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a store in user mode: UMONITOR and UMWAIT (Intel WAITPKG), MONITORX and MWAITX (AMD).
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace workloads {

enum class Mwait : std::uint8_t { none, umwait, mwaitx };

/// What this CPU has, by CPUID; a hypervisor may hide it.
Mwait mwait_here() noexcept;

/// Light sleep is Intel's C0.1 or AMD's C0; deep sleep, which gives the core to its other thread, C0.2 or C1.
enum class Depth : std::uint8_t { light, deep };

/// Sleeps until `word` is stored to, unless it differs from `seen` already; at most some 100,000 cycles, often less,
/// and for no reason at times. `kind` must be what the CPU has and not none.
void mwait_for_store(Mwait kind, const std::atomic<std::uint32_t>& word, std::uint32_t seen, Depth depth) noexcept;

}  // namespace workloads
