// SPDX-License-Identifier: BSD-3-Clause
#include "common/stop_rule.h"

#include <algorithm>

#include "common/median_interval.h"

namespace workloads {
namespace {

// Sorting all samples after each of them would grow with the square of their number.
bool is_checkpoint(std::size_t count) {
  constexpr std::size_t share = 32;
  return count % std::max<std::size_t>(1, count / share) == 0;
}

}  // namespace

bool still_warming_up(const SamplerOptions& options, int done, double elapsed_s) noexcept {
  constexpr double share_of_time_box = 0.25;
  const bool in_time = done == 0 || elapsed_s < share_of_time_box * options.time_box_s;
  return done < options.warmup && in_time;
}

bool is_converged(const SamplerOptions& options, std::span<const double> samples) {
  const auto interval = median_interval(samples);
  return interval && interval->relative_width() <= options.relative_width;
}

Decision decide(const SamplerOptions& options, std::span<const double> samples, double elapsed_s) {
  const auto count = static_cast<int>(samples.size());
  if (count >= options.min_samples && is_checkpoint(samples.size()) && is_converged(options, samples)) {
    return Decision::converged;
  }
  if (count >= options.max_samples) {
    return Decision::max_samples;
  }
  return count > 0 && elapsed_s >= options.time_box_s ? Decision::time_up : Decision::go_on;
}

}  // namespace workloads
