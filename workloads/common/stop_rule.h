// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

namespace workloads {

/// When a point has been repeated enough.
struct SamplerOptions {
  int warmup = 3;        ///< repetitions discarded; never more than a quarter of the time box, at least one
  int min_samples = 10;  ///< unless the time box ends before
  int max_samples = 1000;
  double time_box_s = 5;         ///< for one point, warm-up included; one sample is always taken
  double relative_width = 0.05;  ///< of the 95 % interval of the leading quantity's median
};

/// Ordered: of several ranks' answers the largest counts.
enum class Decision : std::uint8_t { go_on, converged, max_samples, time_up, interrupted, failed };

/// Whether another repetition is warm-up, after `done` of them.
bool still_warming_up(const SamplerOptions& options, int done, double elapsed_s) noexcept;

/// Whether `samples` of the leading quantity are enough. Never `interrupted` or `failed`.
Decision decide(const SamplerOptions& options, std::span<const double> samples, double elapsed_s);

/// The 95 % interval of the median exists and is within the asked width.
bool is_converged(const SamplerOptions& options, std::span<const double> samples);

}  // namespace workloads
