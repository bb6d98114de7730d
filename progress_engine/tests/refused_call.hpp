// SPDX-License-Identifier: BSD-3-Clause
// System calls that a container's filter (seccomp(2)) refuses, in the calling process and for good: in a child.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace progress_engine {

// From now on this call ends with `error`; of those whose second argument is `size` or less, where that is given. False
// where filters cannot be set.
inline bool refuse_call(int number, int error, std::uint32_t size = UINT32_MAX) {
  constexpr auto load = static_cast<std::uint16_t>(BPF_LD | BPF_W | BPF_ABS);
  std::array<sock_filter, 6> steps{
      sock_filter{load, 0, 0, offsetof(seccomp_data, nr)},
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 3, static_cast<std::uint32_t>(number)},
      sock_filter{load, 0, 0, offsetof(seccomp_data, args) + sizeof(std::uint64_t)},  // its low half
      sock_filter{BPF_JMP | BPF_JGT | BPF_K, 1, 0, size},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace progress_engine
