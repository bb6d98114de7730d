// SPDX-License-Identifier: BSD-3-Clause
// The numbers of the NAS Parallel Benchmarks (Bailey et al., RNR-94-007, section 2.3).
#pragma once

#include <cstdint>

namespace workloads::npb {

/// The generator's numbers are x_n = 5^13 x_{n-1} modulo 2^46, and 2^-46 x_n is uniform in (0, 1).
inline constexpr std::uint64_t multiplier = 1220703125;
inline constexpr std::uint64_t modulus_mask = (std::uint64_t{1} << 46U) - 1;

/// base^exponent modulo 2^46.
constexpr std::uint64_t power(std::uint64_t base, std::uint64_t exponent) noexcept {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1U) {
    result = (exponent & 1U) != 0 ? (result * base) & modulus_mask : result;
    base = (base * base) & modulus_mask;
  }
  return result;
}

/// The sequence from x_0 = 314159265 that all kernels but EP take their numbers from.
class Generator {
 public:
  /// Leaves out the first `skipped` numbers.
  explicit Generator(std::uint64_t skipped = 0) noexcept
      : state_((314159265 * power(multiplier, skipped)) & modulus_mask) {}

  double next() noexcept {
    state_ = (state_ * multiplier) & modulus_mask;
    return static_cast<double>(state_) * 0x1p-46;
  }

 private:
  std::uint64_t state_;
};

}  // namespace workloads::npb
