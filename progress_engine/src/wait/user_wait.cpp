// SPDX-License-Identifier: BSD-3-Clause
#include "wait/user_wait.hpp"

#include <algorithm>

#include "platform/platform.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace progress_engine {
namespace {

bool changed(const std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  return word.load(std::memory_order_acquire) != expected;
}

#if defined(__x86_64__)

CpuidAnswer real_cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  CpuidAnswer answer;
  if (__get_cpuid_count(leaf, subleaf, &answer.a, &answer.b, &answer.c, &answer.d) == 0) return {};
  return answer;
}

// Ticks of the time stamp counter in `time`. The rate is what was seen since the first call; until that says something
// a tick counts as a nanosecond: a wait then ends early, and is begun again.
std::uint64_t ticks(Nanoseconds time) {
  struct Instant {
    Nanoseconds time = now();
    std::uint64_t ticks = __rdtsc();
  };
  static const Instant first;
  const Instant here;
  const Nanoseconds passed = here.time - first.time;
  if (passed < microseconds(1000)) return static_cast<std::uint64_t>(time);
  const double rate = static_cast<double>(here.ticks - first.ticks) / static_cast<double>(passed);
  return static_cast<std::uint64_t>(static_cast<double>(time) * rate);
}

// Each arms the monitor, looks again, and only then waits: a store between the two ends the wait at once.

__attribute__((target("waitpkg"))) void wait_umwait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                                    Nanoseconds bound) {
  constexpr unsigned state_c02 = 0;
  _umonitor(const_cast<std::atomic<std::uint32_t>*>(&word));
  if (!changed(word, expected)) _umwait(state_c02, __rdtsc() + ticks(bound));
}

__attribute__((target("mwaitx"))) void wait_mwaitx(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                                   Nanoseconds bound) {
  constexpr unsigned timer_enabled = 2;
  constexpr unsigned state_c1 = 0;
  constexpr std::uint64_t longest = 0xffffffff;
  _mm_monitorx(const_cast<std::atomic<std::uint32_t>*>(&word), 0, 0);
  if (!changed(word, expected))
    _mm_mwaitx(timer_enabled, state_c1, static_cast<unsigned>(std::min(ticks(bound), longest)));
}

#elif defined(__aarch64__)

void wait_wfe(const std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  std::uint32_t seen = 0;
  asm volatile("ldaxr %w0, [%1]" : "=r"(seen) : "r"(&word) : "memory");
  if (seen == expected) asm volatile("wfe" ::: "memory");
}

#endif

void wait_pause() {
  constexpr int hints = 16;
  for (int i = 0; i < hints; ++i) relax_cpu();
}

}  // namespace

WaitInstruction detect_wait_instruction(Cpuid cpuid) {
  constexpr std::uint32_t extended_features = 0x80000001;
  constexpr std::uint32_t waitpkg = 1U << 5U;
  constexpr std::uint32_t monitorx = 1U << 29U;
  if (cpuid(7, 0).c & waitpkg) return WaitInstruction::umwait;
  if (cpuid(extended_features, 0).c & monitorx) return WaitInstruction::mwaitx;
  return WaitInstruction::pause;
}

WaitInstruction wait_instruction() {
#if defined(__x86_64__)
  static const WaitInstruction found = detect_wait_instruction(real_cpuid);
  return found;
#elif defined(__aarch64__)
  return WaitInstruction::wfe;
#else
  return WaitInstruction::pause;
#endif
}

const char* wait_instruction_name(WaitInstruction instruction) {
  switch (instruction) {
    case WaitInstruction::umwait:
      return "umwait-c0.2";
    case WaitInstruction::mwaitx:
      return "mwaitx-c1";
    case WaitInstruction::wfe:
      return "wfe";
    case WaitInstruction::pause:
      break;
  }
  return "pause-futex";
}

void user_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, Nanoseconds bound,
               [[maybe_unused]] WaitInstruction instruction) {
  for (const Nanoseconds end = now() + bound; !changed(word, expected);) {
    const Nanoseconds left = end - now();
    if (left <= 0) return;
#if defined(__x86_64__)
    if (instruction == WaitInstruction::umwait)
      wait_umwait(word, expected, left);
    else if (instruction == WaitInstruction::mwaitx)
      wait_mwaitx(word, expected, left);
    else
      wait_pause();
#elif defined(__aarch64__)
    if (instruction == WaitInstruction::wfe)
      wait_wfe(word, expected);
    else
      wait_pause();
#else
    wait_pause();
#endif
  }
}

}  // namespace progress_engine
