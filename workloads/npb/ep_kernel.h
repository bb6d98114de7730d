// SPDX-License-Identifier: BSD-3-Clause
// The EP kernel of the NAS Parallel Benchmarks (Bailey et al., "The NAS Parallel Benchmarks", RNR-94-007, section 2.2:
// the kernel of 1991's report, and its generator in section 2.3): Gaussian deviates from pairs of uniform ones, by
// Marsaglia's polar method, counted in square annuli.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "npb/generator.h"

namespace workloads::npb {

inline constexpr int annuli = 10;

/// Sums of the deviates, and how many pairs lie in l <= max(|X|, |Y|) < l + 1.
struct EpSums {
  double x = 0;
  double y = 0;
  std::array<double, annuli> counts{};

  EpSums& operator+=(const EpSums& other) noexcept;
};

/// Where EP's numbers begin.
inline constexpr std::uint64_t seed = 271828183;

inline constexpr std::uint64_t pairs_a_batch = 1U << 16U;

/// Batches `first` to `last - 1` of 65,536 pairs each, from the whole sequence. Any cut gives the same pairs, so any
/// number of ranks the same sums but for rounding. Not for several threads at once.
class EpKernel {
 public:
  EpKernel();
  EpSums run(std::uint64_t first, std::uint64_t last);

 private:
  EpSums tally();

  std::vector<double> uniform_;  ///< a chunk of numbers in (-1, 1): all x, then all y
  std::vector<double> largest_;  ///< max(|X|, |Y|) of its pairs
};

/// A class of the benchmark: 2^log2_pairs pairs and the sums that are right.
struct EpClass {
  std::string_view name;
  int log2_pairs;
  double x;
  double y;
};

/// S, W, A, B, C with the verification values of NPB 3.3.
const std::array<EpClass, 5>& ep_classes() noexcept;

/// NPB's criterion: both sums within 1e-8 of the class's, relatively.
bool is_right(const EpClass& problem, const EpSums& sums) noexcept;

}  // namespace workloads::npb
