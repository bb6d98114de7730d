// SPDX-License-Identifier: BSD-3-Clause
// When a point has been repeated enough: the interval of its median, the rule, and the signals that ask to stop.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// When a point has been repeated enough.
struct SamplerOptions {
  int warmup = 3;        ///< repetitions discarded; never more than a quarter of the time box, at least one
  int min_samples = 10;  ///< unless the time box ends before
  int max_samples = 1000;
  double time_box_s = 5;         ///< for one point, warm-up included; one sample is always taken, or two pairs
  double relative_width = 0.05;  ///< of the 95 % interval of the leading quantity's median
  /// The progress engine is paused in one of each two repetitions, warm-up included, in an order drawn for each two.
  /// The samples are then pairs, as many as the time box holds: the median of both kinds together says nothing. Of one
  /// pair nobody knows how much it varies.
  bool on_off = false;
};

/// Ordered: of several ranks' answers the largest counts.
enum class Decision : std::uint8_t { go_on, converged, max_samples, time_up, interrupted, failed };

/// Whether another repetition is warm-up, after `done` of them.
bool still_warming_up(const SamplerOptions& options, int done, double elapsed_s) noexcept;

/// Whether `samples` of the leading quantity are enough; pairs end whole. Never `interrupted` or `failed`.
Decision decide(const SamplerOptions& options, std::span<const double> samples, double elapsed_s);

/// The 95 % interval of the median exists and is within the asked width.
bool is_converged(const SamplerOptions& options, std::span<const double> samples);

// SIGTERM and SIGINT ask for a clean end: the sampler looks between repetitions, all ranks agree, the end line says so.

/// From now on the first SIGTERM or SIGINT only sets a flag; a second one kills as usual, because a rank that hangs in
/// MPI never looks at the flag.
void watch_for_interruption();

/// Whether this process has been asked to end.
bool is_interrupted() noexcept;

}  // namespace workloads
