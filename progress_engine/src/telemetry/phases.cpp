// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/phases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace progress_engine {
namespace {

constexpr std::size_t fewest_phases = 5;
constexpr std::size_t most_phases = 100'000;  // of each kind: bounds the memory of a run that switches all the time
constexpr double negligible = 0.02;
constexpr double critical = 1.96;
constexpr double equivalent = 0.05;
constexpr double critical_one_sided = 1.645;

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// How often a time of `a` is above one of `b`, as a standard normal deviate. Both sorted.
double rank_sum(const std::vector<double>& a, const std::vector<double>& b) {
  double above = 0;
  for (const double value : a) {
    const auto [low, high] = std::ranges::equal_range(b, value);
    above += static_cast<double>(low - b.begin()) + static_cast<double>(high - low) / 2;
  }
  const auto m = static_cast<double>(a.size());
  const auto n = static_cast<double>(b.size());
  return (above - m * n / 2) / std::sqrt(m * n * (m + n + 1) / 12);
}

// Whether both tests reject that the times of `a` differ from those of `b` by as much.
bool are_equivalent(const std::vector<double>& a, const std::vector<double>& b) {
  const auto deviate = [&](double factor) {
    auto scaled = a;
    for (double& value : scaled) value *= factor;
    return rank_sum(scaled, b);
  };
  return deviate(1 + equivalent) > critical_one_sided && deviate(1 / (1 + equivalent)) < -critical_one_sided;
}

}  // namespace

bool is_armed_turn(std::uint64_t turn) {
  std::uint64_t random = (turn / 2 + 1) * 0x9E3779B97F4A7C15;  // splitmix64
  random = (random ^ (random >> 30)) * 0xBF58476D1CE4E5B9;
  random = (random ^ (random >> 27)) * 0x94D049BB133111EB;
  return turn % 2 != random >> 63;
}

Verdict judge_phases(std::vector<double> armed, std::vector<double> disarmed) {
  Verdict verdict;
  verdict.armed_phases = armed.size();
  verdict.disarmed_phases = disarmed.size();
  verdict.armed_s = median(armed);
  verdict.disarmed_s = median(disarmed);
  if (armed.size() < fewest_phases || disarmed.size() < fewest_phases) return verdict;
  std::ranges::sort(armed);
  std::ranges::sort(disarmed);
  const double deviate = rank_sum(armed, disarmed);
  const double ratio = verdict.armed_s / verdict.disarmed_s;
  verdict.word = are_equivalent(armed, disarmed) ? "neutral" : "unclear";
  if (deviate > critical && ratio > 1 + negligible) verdict.word = "hurt";
  if (deviate < -critical && ratio < 1 - negligible) verdict.word = "helped";
  return verdict;
}

void PhaseMeter::close(Nanoseconds now, std::uint64_t completed) {
  auto& times = times_[armed_ ? 1 : 0];
  if (open_ && completed > completed_ && times.size() < most_phases)
    times.push_back(1e-9 * static_cast<double>(now - since_) / static_cast<double>(completed - completed_));
  if (open_) totals_[armed_ ? 1 : 0] += now - since_;
  open_ = false;
}

Nanoseconds PhaseMeter::total(bool armed, Nanoseconds now) const {
  const std::scoped_lock lock(mutex_);
  return totals_[armed ? 1 : 0] + (open_ && armed_ == armed ? now - since_ : 0);
}

void PhaseMeter::change(bool armed, Nanoseconds now, std::uint64_t completed) {
  const std::scoped_lock lock(mutex_);
  if (open_ && armed == armed_) return;
  close(now, completed);
  open_ = true;
  armed_ = armed;
  since_ = now;
  completed_ = completed;
}

void PhaseMeter::end(Nanoseconds now, std::uint64_t completed) {
  const std::scoped_lock lock(mutex_);
  close(now, completed);
}

Verdict PhaseMeter::verdict() const {
  const std::scoped_lock lock(mutex_);
  return judge_phases(times_[1], times_[0]);
}

}  // namespace progress_engine
