// SPDX-License-Identifier: BSD-3-Clause
// What a benchmark records as a table: units, which direction is better and which of them leads. --list-parameters
// prints it, a record's header carries it, and nothing else can be recorded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"

namespace workloads {

enum class Better : std::uint8_t { lower, higher, neither };

struct Quantity {
  std::string name;
  std::string unit;  ///< as the field writes it: s, B/s, Mop/s; 1 where it has none
  Better better = Better::lower;
  bool leading = false;  ///< what the benchmark is about; of one in a table
};

/// What a repetition gives one value of, in the order of those values; then the distributions.
using Quantities = std::vector<Quantity>;
using Names = std::vector<std::string_view>;

/// A time, of which less is better.
Quantity seconds(std::string name);
/// Context switches or the like, of which fewer are better.
Quantity count(std::string name);
Quantity leading(Quantity quantity);
/// With --on-off: 1 of a repetition with the engine on, 0 of one with it paused.
Quantity armed_quantity();

/// Names of the first `length`, or of all. Views into `quantities`.
Names names_of(const Quantities& quantities);
Names names_of(const Quantities& quantities, std::size_t length);

/// `first`, and what of `second` it does not have: that leads nothing.
Quantities joined(Quantities first, const Quantities& second);

/// For --list-parameters: an array.
Json describe(const Quantities& quantities);
/// For a record's header: an object, name -> the rest.
Json describe_by_name(const Quantities& quantities);

/// Puts the values of a quantity into a point's line: as "samples", or where they are too many to keep as a histogram.
/// std::logic_error if it is not `declared`: what nobody can know the meaning of is not recorded.
void add_values(Json& line, const Quantities& declared, std::string_view name, std::vector<double> values);

/// A distribution too long to keep, as `histogram` of the record schema: 20 bins a decade; count, mean, extremes and
/// quantiles are those of the samples themselves. `samples` must not be empty and not be negative; it is reordered.
/// Values of zero are counted in a first bin [0, smallest positive value).
Json log_histogram(std::span<double> samples);

}  // namespace workloads
