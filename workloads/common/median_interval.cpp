// SPDX-License-Identifier: BSD-3-Clause
#include "common/median_interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace workloads {
namespace {

constexpr double tail = 0.025;
constexpr std::size_t exact_up_to = 1000;  // beyond it the smallest terms underflow, and the normal law is exact enough

// Sums up P(B <= k) of the binomial law until it exceeds the tail.
std::optional<std::size_t> beyond_exactly(std::size_t count) {
  double term = std::pow(0.5, static_cast<double>(count));
  double cumulated = term;
  std::size_t k = 0;
  while (cumulated <= tail) {
    ++k;
    term *= static_cast<double>(count - k + 1) / static_cast<double>(k);
    cumulated += term;
  }
  return k == 0 ? std::nullopt : std::optional(k - 1);
}

}  // namespace

double MedianInterval::relative_width() const noexcept {
  const double width = high - low;
  if (width == 0) {
    return 0;
  }
  return median == 0 ? std::numeric_limits<double>::infinity() : width / std::abs(median);
}

std::optional<std::size_t> samples_beyond_interval(std::size_t count) {
  if (count > exact_up_to) {
    const auto n = static_cast<double>(count);
    constexpr double half_quantile = 0.98;  // 1.96 / 2
    return static_cast<std::size_t>(std::floor((n / 2) - (half_quantile * std::sqrt(n)) - 1));
  }
  return beyond_exactly(count);
}

std::optional<MedianInterval> median_interval(std::span<const double> samples) {
  const auto beyond = samples_beyond_interval(samples.size());
  if (!beyond) {
    return std::nullopt;
  }
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const std::size_t count = sorted.size();
  const double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
  return MedianInterval{.median = median, .low = sorted[*beyond], .high = sorted[count - 1 - *beyond]};
}

}  // namespace workloads
