// SPDX-License-Identifier: BSD-3-Clause
#include "common/stop_rule.h"

#include <algorithm>
#include <cmath>
#include <csignal>
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
  if (options.on_off && count % 2 != 0) {
    return Decision::go_on;
  }
  if (!options.on_off && count >= options.min_samples && is_checkpoint(samples.size()) &&
      is_converged(options, samples)) {
    return Decision::converged;
  }
  if (count >= options.max_samples) {
    return Decision::max_samples;
  }
  const int fewest = options.on_off ? 4 : 1;
  return count >= fewest && elapsed_s >= options.time_box_s ? Decision::time_up : Decision::go_on;
}

namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_interruption(int /*signal*/) { interrupted = 1; }

}  // namespace

void watch_for_interruption() {
  struct sigaction action{};
  action.sa_handler = note_interruption;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the MPI's system calls must not see EINTR
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

bool is_interrupted() noexcept { return interrupted != 0; }

}  // namespace workloads
