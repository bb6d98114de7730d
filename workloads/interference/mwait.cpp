// SPDX-License-Identifier: BSD-3-Clause
#include "interference/mwait.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace workloads {

#if defined(__x86_64__)
namespace {

constexpr std::uint32_t cycles = 100'000;  // what Linux allows UMWAIT by default

__attribute__((target("waitpkg"))) void wait_intel(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                                                   Depth depth) noexcept {
  constexpr unsigned light = 1;
  _umonitor(const_cast<void*>(static_cast<const volatile void*>(&word)));
  if (word.load(std::memory_order_acquire) == seen) {
    _umwait(depth == Depth::light ? light : 0U, __rdtsc() + cycles);
  }
}

__attribute__((target("mwaitx"))) void wait_amd(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                                                Depth depth) noexcept {
  constexpr unsigned with_timer = 2;
  constexpr unsigned stay_in_c0 = 0xf0;
  _mm_monitorx(const_cast<void*>(static_cast<const volatile void*>(&word)), 0, 0);
  if (word.load(std::memory_order_acquire) == seen) {
    _mm_mwaitx(with_timer, depth == Depth::light ? stay_in_c0 : 0U, cycles);
  }
}

}  // namespace

Mwait mwait_here() noexcept {
  constexpr unsigned structured = 7;
  constexpr unsigned waitpkg = 1U << 5U;
  constexpr unsigned extended = 0x80000001;
  constexpr unsigned monitorx = 1U << 29U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(structured, 0, &a, &b, &c, &d) != 0 && (c & waitpkg) != 0) {
    return Mwait::umwait;
  }
  return __get_cpuid(extended, &a, &b, &c, &d) != 0 && (c & monitorx) != 0 ? Mwait::mwaitx : Mwait::none;
}

void mwait_for_store(Mwait kind, const std::atomic<std::uint32_t>& word, std::uint32_t seen, Depth depth) noexcept {
  (kind == Mwait::umwait ? wait_intel : wait_amd)(word, seen, depth);
}
#else
Mwait mwait_here() noexcept { return Mwait::none; }

void mwait_for_store(Mwait /*kind*/, const std::atomic<std::uint32_t>& /*word*/, std::uint32_t /*seen*/,
                     Depth /*depth*/) noexcept {}
#endif

}  // namespace workloads
