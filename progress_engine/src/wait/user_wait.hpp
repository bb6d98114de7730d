// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a store to a cache line without leaving user mode (Miwa et al.). Which instruction there is depends on
// the CPU and on what a hypervisor lets through: asked at run time.
//
// - umwait (Intel, CPUID 7.0 ECX[5], Intel SDM volume 2): state C0.2, which gives the sibling thread its resources
//   back. The deadline is an absolute time stamp; the system caps each wait (umwait_control, 100000 ticks by default).
// - mwaitx (AMD, CPUID 8000_0001 ECX[29], AMD APM volume 3): state C1, its timer a relative 32-bit count of ticks.
// - wfe (Arm): woken by the monitor of a load-exclusive, and every 100 us at the latest by the event stream.
// - pause: none of them. A loop of hints for a while; whoever waits longer sleeps on a futex instead.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"

namespace progress_engine {

enum class WaitInstruction : std::uint8_t { umwait, mwaitx, wfe, pause };

struct CpuidAnswer {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = 0;
};
// CPUID with a leaf and a subleaf; all zero for a leaf that the CPU does not have.
using Cpuid = CpuidAnswer (*)(std::uint32_t leaf, std::uint32_t subleaf);

// The best instruction that CPUID tells of: umwait, mwaitx or pause. Injectable, for tests.
WaitInstruction detect_wait_instruction(Cpuid cpuid);
// This machine's, asked once.
WaitInstruction wait_instruction();
// "umwait-c0.2", "mwaitx-c1", "wfe", "pause-futex": as telemetry and records say it.
const char* wait_instruction_name(WaitInstruction instruction);

// Waits while `word` is `expected`, at most for `bound`; may end early for no reason. With `pause` it keeps the CPU.
// Any thread; the instruction must be one that this CPU has.
void user_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, Nanoseconds bound,
               WaitInstruction instruction);

}  // namespace progress_engine
