// SPDX-License-Identifier: BSD-3-Clause
#include "common/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
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

namespace {

constexpr std::size_t longest_kept = 20'000;  // values of a quantity; more of them become a histogram

bool has(const Quantities& quantities, std::string_view name) {
  return std::ranges::find(quantities, name, &Quantity::name) != quantities.end();
}

const char* word_of(Better better) {
  switch (better) {
    case Better::lower:
      return "lower";
    case Better::higher:
      return "higher";
    case Better::neither:
      break;
  }
  return "neither";
}

Json about(const Quantity& quantity) {
  return {{"unit", quantity.unit}, {"better", word_of(quantity.better)}, {"leading", quantity.leading}};
}

}  // namespace

Quantity seconds(std::string name) { return {.name = std::move(name), .unit = "s"}; }

Quantity count(std::string name) { return {.name = std::move(name), .unit = "1"}; }

Quantity leading(Quantity quantity) {
  quantity.leading = true;
  return quantity;
}

Quantity armed_quantity() { return {.name = "armed", .unit = "1", .better = Better::neither}; }

Names names_of(const Quantities& quantities) { return names_of(quantities, quantities.size()); }

Names names_of(const Quantities& quantities, std::size_t length) {
  Names names;
  names.reserve(length);
  for (std::size_t i = 0; i < length; ++i) {
    names.emplace_back(quantities.at(i).name);
  }
  return names;
}

Quantities joined(Quantities first, const Quantities& second) {
  for (auto quantity : second) {
    if (!has(first, quantity.name)) {
      quantity.leading = false;
      first.push_back(std::move(quantity));
    }
  }
  return first;
}

Json describe(const Quantities& quantities) {
  Json list = Json::array();
  for (const auto& quantity : quantities) {
    Json entry = {{"name", quantity.name}};
    entry.update(about(quantity));
    list.push_back(std::move(entry));
  }
  return list;
}

Json describe_by_name(const Quantities& quantities) {
  Json object = Json::object();
  for (const auto& quantity : quantities) {
    object[quantity.name] = about(quantity);
  }
  return object;
}

void add_values(Json& line, const Quantities& declared, std::string_view name, std::vector<double> values) {
  if (!has(declared, name)) {
    throw std::logic_error(fmt::format("{} is not among the quantities that this benchmark declares", name));
  }
  if (values.size() <= longest_kept) {
    line["samples"][std::string(name)] = std::move(values);
  } else {
    line["histograms"][std::string(name)] = log_histogram(values);
  }
}

}  // namespace workloads
