// SPDX-License-Identifier: BSD-3-Clause
#include "common/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace workloads {
namespace {

constexpr int bins_per_decade = 20;

// Edges at fixed places (10^(k/20)) so that histograms of several launches can be added up.
std::vector<double> edges_around(double smallest, double largest) {
  auto index = static_cast<int>(std::floor(std::log10(smallest) * bins_per_decade));
  const auto edge = [](int k) { return std::pow(10.0, static_cast<double>(k) / bins_per_decade); };
  while (edge(index) > smallest) {  // the logarithm rounds
    --index;
  }
  std::vector<double> edges{edge(index)};
  while (edges.back() <= largest) {
    edges.push_back(edge(++index));
  }
  return edges;
}

std::vector<std::int64_t> count_sorted(std::span<const double> sorted, const std::vector<double>& edges) {
  std::vector<std::int64_t> counts;
  auto begin = sorted.begin();
  for (auto edge = edges.begin() + 1; edge != edges.end(); ++edge) {
    const auto end = std::lower_bound(begin, sorted.end(), *edge);
    counts.push_back(end - begin);
    begin = end;
  }
  return counts;
}

// Linear interpolation between the neighbours, as NumPy's and R's default (type 7) does.
double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

Json log_histogram(std::span<double> samples) {
  std::ranges::sort(samples);
  const auto positive = std::ranges::upper_bound(samples, 0.0);
  std::vector<double> edges{0, 1};  // of a distribution of zeros only
  if (positive != samples.end()) {
    edges = edges_around(*positive, samples.back());
    if (positive != samples.begin()) {
      edges.insert(edges.begin(), 0.0);
    }
  }
  Json quantiles = Json::object();
  for (const auto& [name, share] : std::array<std::pair<const char*, double>, 7>{
           {
               {"0.01", 0.01},
               {"0.25", 0.25},
               {"0.5", 0.5},
               {"0.75", 0.75},
               {"0.9", 0.9},
               {"0.99", 0.99},
               {"0.999", 0.999},
           },
       }) {
    quantiles[name] = quantile(samples, share);
  }
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  return {
      {"count", samples.size()},
      {"min", samples.front()},
      {"max", samples.back()},
      {"mean", sum / static_cast<double>(samples.size())},
      {"quantiles", quantiles},
      {"edges", edges},
      {"counts", count_sorted(samples, edges)},
  };
}

}  // namespace workloads
