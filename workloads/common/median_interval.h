// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace workloads {

/// Order statistics that bound the median. Same unit as the samples.
struct MedianInterval {
  double median;
  double low;
  double high;

  /// Width over median. Infinite where the median is zero and the width is not.
  [[nodiscard]] double relative_width() const noexcept;
};

/// How many samples lie below the 95 % nonparametric interval of the median (and as many above): the interval goes from
/// the (n+1)-th smallest to the (n+1)-th largest. Empty below 6 samples, where no such interval exists. Le Boudec,
/// Performance Evaluation of Computer and Communication Systems, theorem 2.1: B(count, 1/2).
std::optional<std::size_t> samples_beyond_interval(std::size_t count);

/// The interval itself. Empty below 6 samples.
std::optional<MedianInterval> median_interval(std::span<const double> samples);

}  // namespace workloads
