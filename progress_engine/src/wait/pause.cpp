// SPDX-License-Identifier: BSD-3-Clause
#include "wait/wait.hpp"

namespace progress_engine {
namespace {

void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // longer than yield, which most cores ignore
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27" ::: "memory");
#endif
}

}  // namespace

void wait_pause(Engine& /*engine*/, Worker& /*worker*/) {
  constexpr int hints = 64;  // of 40 to 140 cycles each: about a microsecond or two
  for (int i = 0; i < hints; ++i) cpu_relax();
}

}  // namespace progress_engine
