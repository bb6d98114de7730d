// SPDX-License-Identifier: BSD-3-Clause
#include "common/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "common/histogram.h"

namespace workloads {
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

std::vector<std::string_view> names_of(const Quantities& quantities) { return names_of(quantities, quantities.size()); }

std::vector<std::string_view> names_of(const Quantities& quantities, std::size_t length) {
  std::vector<std::string_view> names;
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
