// SPDX-License-Identifier: BSD-3-Clause
// The parameters of a benchmark as a table: points are checked against it and --list-parameters prints it. A point is a
// JSON object of scalars; what the table does not know (an intention, a note) is copied into the record.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/json.h"

namespace workloads {

struct IntegerRange {
  std::int64_t minimum = 0;
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
};

using Choices = std::vector<std::string>;

/// true or false.
struct Flag {};

struct Parameter {
  std::string name;
  std::variant<IntegerRange, Choices, Flag> domain;
  std::string unit;  ///< empty for a choice or a flag
  std::string meaning;
  Json default_value;  ///< null: the point must give it
};

/// Without a default the point must give it.
Parameter integer_parameter(std::string name, IntegerRange range, std::string unit, std::string meaning,
                            Json default_value = nullptr);
Parameter choice_parameter(std::string name, Choices choices, std::string meaning, Json default_value = nullptr);
Parameter flag_parameter(std::string name, std::string meaning, Json default_value = nullptr);

using Parameters = std::vector<Parameter>;

/// UsageError, with `place` ("point 3") in its sentence, unless `point` is an object of scalars that obeys
/// `parameters`.
void check_point(const Json& point, const Parameters& parameters, const std::string& place);

/// The point's value or the default. The point must have been checked, the parameter must exist.
std::int64_t integer_of(const Json& point, const Parameters& parameters, std::string_view name);
std::string choice_of(const Json& point, const Parameters& parameters, std::string_view name);
bool flag_of(const Json& point, const Parameters& parameters, std::string_view name);

/// For --list-parameters.
Json describe(const Parameters& parameters);

/// "size_bytes=4194304,pattern=both" as a point. Numbers, true and false are recognised, the rest is text.
Json point_from_text(const std::string& text);

/// The array of points in a JSON text; `place` names it in the sentence of a UsageError.
std::vector<Json> points_from_json(const std::string& text, const std::string& place);

/// The object in a JSON text. UsageError if it is something else.
Json object_from_json(const std::string& text, const std::string& place);

}  // namespace workloads
