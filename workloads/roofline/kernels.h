// SPDX-License-Identifier: BSD-3-Clause
// The loops that bound all others (Williams, Waterman, Patterson, "Roofline: an insightful visual performance model",
// CACM 52, 2009): memory's bandwidth by STREAM's triad, and how many operations of a kind a core does at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace workloads::roofline {

/// a = b + scalar c. The spans have the same length.
void triad(std::span<float> a, std::span<const float> b, std::span<const float> c, float scalar) noexcept;

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
