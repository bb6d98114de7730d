// SPDX-License-Identifier: BSD-3-Clause
// The loops that bound all others (Williams, Waterman, Patterson, "Roofline: an insightful visual performance model",
// CACM 52, 2009): memory's bandwidth by STREAM's triad, and how many operations of a kind a core does at most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace workloads::roofline {

/// a = b + scalar c. The spans have the same length.
void triad(std::span<float> a, std::span<const float> b, std::span<const float> c, float scalar) noexcept;

/// Bytes of its three arrays together that no cache of so many bytes can keep from one pass to the next: a value's turn
/// comes again when twice as many bytes have gone through. 240 MB at least, since some systems know no such cache.
constexpr std::size_t bytes_beyond(long cache_bytes) noexcept {
  constexpr std::size_t least = 240'000'000;
  return std::max(least, 2 * static_cast<std::size_t>(std::max(cache_bytes, 0L)));
}

/// A loop of independent operations in registers, in vectors as wide as this CPU's.
struct Operation {
  std::string_view name;
  std::string_view meaning;
  double flops;                                  ///< that one of it counts for
  std::uint64_t a_round;                         ///< operations of a round
  double (*run)(std::uint64_t rounds) noexcept;  ///< the result depends on every operation
};

/// What the name says: fma-single, fma-double, divide, sqrt, multiply-integer.
std::span<const Operation> operations() noexcept;

}  // namespace workloads::roofline
