// SPDX-License-Identifier: BSD-3-Clause
#include "npb/generator.h"

namespace workloads::npb {

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) noexcept {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1U) {
    result = (exponent & 1U) != 0 ? (result * base) & modulus_mask : result;
    base = (base * base) & modulus_mask;
  }
  return result;
}

}  // namespace workloads::npb
