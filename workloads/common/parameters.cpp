// SPDX-License-Identifier: BSD-3-Clause
#include "common/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <sstream>

#include "common/errors.h"

namespace workloads {
namespace {

const Parameter* find(const Parameters& parameters, std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &Parameter::name);
  return found == parameters.end() ? nullptr : &*found;
}

/// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : a) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (letter == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Python writes 1e6 / 10 as a float: an integer with a point is an integer.
std::optional<std::int64_t> as_integer(const Json& value) {
  constexpr double exact_limit = 9007199254740992;  // 2^53
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (std::abs(number) <= exact_limit && number == std::trunc(number)) {
      return static_cast<std::int64_t>(number);
    }
  }
  return std::nullopt;
}

/// What is wrong with a value, as the end of a sentence; empty if nothing is.
std::string objection(const IntegerRange& range, const Json& value) {
  const auto number = as_integer(value);
  if (number && *number >= range.minimum && *number <= range.maximum) {
    return {};
  }
  return fmt::format("an integer from {} to {} is needed", range.minimum, range.maximum);
}

std::string objection(const Choices& choices, const Json& value) {
  if (value.is_string() && std::ranges::find(choices, value.get<std::string>()) != choices.end()) {
    return {};
  }
  return fmt::format("one of {} is needed", fmt::join(choices, ", "));
}

std::string objection(const Flag& /*flag*/, const Json& value) {
  return value.is_boolean() ? std::string() : "true or false is needed";
}

void check_value(const Parameter& parameter, const Json& value, const std::string& place) {
  const auto problem = std::visit([&](const auto& domain) { return objection(domain, value); }, parameter.domain);
  if (!problem.empty()) {
    throw UsageError(fmt::format("{}: {} = {}: {}", place, parameter.name, to_line(value), problem));
  }
}

void check_key(const std::string& key, const Json& value, const Parameters& parameters, const std::string& place) {
  constexpr std::size_t slip = 2;
  if (value.is_structured()) {
    throw UsageError(fmt::format("{}: {}: a number, a text, true, false or null is needed", place, key));
  }
  for (const auto& parameter : parameters) {
    if (const auto errors = distance(key, parameter.name); errors > 0 && errors <= slip) {
      throw UsageError(fmt::format("{}: unknown parameter {}: did you mean {}?", place, key, parameter.name));
    }
  }
}

const Json& value_of(const Json& point, const Parameters& parameters, std::string_view name) {
  const auto given = point.find(name);
  return given == point.end() ? std::ranges::find(parameters, name, &Parameter::name)->default_value : *given;
}

Json describe_domain(const IntegerRange& range) {
  return {{"type", "integer"}, {"minimum", range.minimum}, {"maximum", range.maximum}};
}

Json describe_domain(const Flag& /*flag*/) { return {{"type", "boolean"}}; }

Json describe_domain(const Choices& choices) { return {{"type", "string"}, {"choices", choices}}; }

Json parse(const std::string& text, const std::string& place) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    throw UsageError(fmt::format("{}: not JSON (line {})", place, 1 + std::count(text.begin(), end, '\n')));
  } catch (const Json::out_of_range&) {
    throw UsageError(fmt::format("{}: a number is out of range", place));
  }
}

}  // namespace

Parameter integer_parameter(std::string name, IntegerRange range, std::string unit, std::string meaning,
                            Json default_value) {
  return {std::move(name), range, std::move(unit), std::move(meaning), std::move(default_value)};
}

Parameter choice_parameter(std::string name, Choices choices, std::string meaning, Json default_value) {
  return {std::move(name), std::move(choices), "", std::move(meaning), std::move(default_value)};
}

Parameter flag_parameter(std::string name, std::string meaning, Json default_value) {
  return {std::move(name), Flag{}, "", std::move(meaning), std::move(default_value)};
}

void check_point(const Json& point, const Parameters& parameters, const std::string& place) {
  if (!point.is_object()) {
    throw UsageError(fmt::format("{}: an object of parameters is needed", place));
  }
  for (const auto& [key, value] : point.items()) {
    if (const auto* parameter = find(parameters, key)) {
      check_value(*parameter, value, place);
    } else {
      check_key(key, value, parameters, place);
    }
  }
  for (const auto& parameter : parameters) {
    if (parameter.default_value.is_null() && !point.contains(parameter.name)) {
      throw UsageError(fmt::format("{}: {} is missing ({})", place, parameter.name, parameter.meaning));
    }
  }
}

std::int64_t integer_of(const Json& point, const Parameters& parameters, std::string_view name) {
  return as_integer(value_of(point, parameters, name)).value_or(0);  // it is one: the point has been checked
}

std::string choice_of(const Json& point, const Parameters& parameters, std::string_view name) {
  return value_of(point, parameters, name).get<std::string>();
}

bool flag_of(const Json& point, const Parameters& parameters, std::string_view name) {
  return value_of(point, parameters, name).get<bool>();
}

Json describe(const Parameters& parameters) {
  Json list = Json::array();
  for (const auto& parameter : parameters) {
    Json entry = {{"name", parameter.name}};
    entry.update(std::visit([](const auto& domain) { return describe_domain(domain); }, parameter.domain));
    entry["unit"] = parameter.unit;
    entry["meaning"] = parameter.meaning;
    entry["default"] = parameter.default_value;
    list.push_back(entry);
  }
  return list;
}

Json point_from_text(const std::string& text) {
  Json point = Json::object();
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto equals = part.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError(fmt::format("--point {}: key=value is needed instead of \"{}\"", text, part));
    }
    const auto value = part.substr(equals + 1);
    const auto parsed = Json::parse(value, nullptr, false);
    point[part.substr(0, equals)] = parsed.is_number() || parsed.is_boolean() ? parsed : Json(value);
  }
  return point;
}

std::vector<Json> points_from_json(const std::string& text, const std::string& place) {
  const Json points = parse(text, place);
  if (!points.is_array() || points.empty()) {
    throw UsageError(fmt::format("{}: an array of points (objects) is needed, with at least one", place));
  }
  return {points.begin(), points.end()};
}

Json object_from_json(const std::string& text, const std::string& place) {
  Json object = parse(text, place);
  if (!object.is_object()) {
    throw UsageError(fmt::format("{}: an object is needed", place));
  }
  return object;
}

}  // namespace workloads
