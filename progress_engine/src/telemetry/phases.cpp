// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/phases.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

namespace progress_engine {
namespace {

constexpr std::size_t fewest_pairs = 6;      // of fewer nothing is shown, however alike they are
constexpr std::size_t most_pairs = 100'000;  // bounds the memory of a run that switches all the time
// Of fewer in a pair the one that is under way at its ends would count for too much.
constexpr std::uint64_t fewest_operations = 10;
constexpr double negligible = 0.02;
constexpr double critical = 1.96;
constexpr double equivalent = 0.05;
constexpr double critical_one_sided = 1.645;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// How far the differences lie above zero, as a standard normal deviate: Wilcoxon's signed ranks, equal ones sharing
// theirs, half a rank sum nearer to zero as a sum has steps. None is zero after a shift that is none of them.
double signed_ranks(std::vector<double> differences) {
  std::ranges::sort(differences, {}, [](double value) { return std::abs(value); });
  const auto count = differences.size();
  double sum = 0;
  double variance = 0;
  for (std::size_t first = 0, last = 0; first < count; first = last) {
    while (last < count && std::abs(differences[last]) == std::abs(differences[first])) ++last;
    const double rank = static_cast<double>(first + last + 1) / 2;
    for (auto i = first; i < last; ++i) {
      if (differences[i] == 0) continue;
      sum += differences[i] > 0 ? rank : -rank;
      variance += rank * rank;
    }
  }
  if (variance == 0) return 0;
  return std::copysign(std::max(0.0, std::abs(sum) - 1), sum) / std::sqrt(variance);
}

double shifted(std::vector<double> differences, double by) {
  for (double& value : differences) value += by;
  return signed_ranks(std::move(differences));
}

}  // namespace

bool is_armed_turn(std::uint64_t turn) {
  std::uint64_t random = (turn / 2 + 1) * 0x9E3779B97F4A7C15;  // splitmix64
  random = (random ^ (random >> 30)) * 0xBF58476D1CE4E5B9;
  random = (random ^ (random >> 27)) * 0x94D049BB133111EB;
  return turn % 2 != random >> 63;
}

Verdict judge_phases(const std::vector<PhasePair>& pairs) {
  std::vector<double> armed;
  std::vector<double> disarmed;
  std::vector<double> differences;
  for (const auto& pair : pairs) {
    armed.push_back(pair.armed_s);
    disarmed.push_back(pair.disarmed_s);
    differences.push_back(std::log(pair.armed_s / pair.disarmed_s));
  }
  Verdict verdict;
  verdict.armed_phases = verdict.disarmed_phases = pairs.size();
  verdict.armed_s = median(std::move(armed));
  verdict.disarmed_s = median(std::move(disarmed));
  if (pairs.size() < fewest_pairs) return verdict;
  const double deviate = signed_ranks(differences);
  const double middle = median(differences);
  const bool neutral = shifted(differences, std::log1p(equivalent)) > critical_one_sided &&
                       shifted(differences, -std::log1p(equivalent)) < -critical_one_sided;
  verdict.word = neutral ? "neutral" : "unclear";
  if (deviate > critical && middle > std::log1p(negligible)) verdict.word = "hurt";
  if (deviate < -critical && middle < -std::log1p(negligible)) verdict.word = "helped";
  return verdict;
}

void PhaseMeter::close(Nanoseconds now, std::uint64_t completed) {
  if (!open_) return;
  open_ = false;
  totals_[armed_ ? 1 : 0] += now - since_;
  auto& mine = pending_[armed_ ? 1 : 0];
  mine.time += now - since_;
  mine.completed += completed - completed_;
  const auto& [off, on] = pending_;
  if (std::min(on.completed, off.completed) < fewest_operations || std::min(on.time, off.time) <= 0) return;
  const auto each = [](const Phase& phase) {
    return 1e-9 * static_cast<double>(phase.time) / static_cast<double>(phase.completed);
  };
  if (pairs_.size() < most_pairs) pairs_.push_back({.armed_s = each(on), .disarmed_s = each(off)});
  pending_ = {};
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
  return judge_phases(pairs_);
}

}  // namespace progress_engine
