// SPDX-License-Identifier: BSD-3-Clause
#include "pencil_fft/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "common/errors.h"

namespace workloads::pencil_fft {
namespace {

constexpr int most_points_of_an_axis = 32768;
constexpr int most_fields = 64;
constexpr int most_chunks = 1024;

}  // namespace

const Parameters& parameters() {
  constexpr int edge = 64;
  constexpr int components = 3;  // of a velocity, as in a simulation of turbulence
  static const IntegerRange points{.minimum = 1, .maximum = most_points_of_an_axis};
  static const Parameters table{
      integer_parameter("nx", points, "points", "points along x, the axis that is contiguous in memory", edge),
      integer_parameter("ny", points, "points", "points along y", edge),
      integer_parameter("nz", points, "points", "points along z", edge),
      choice_parameter("field", {"complex", "real"}, "what is transformed", "complex"),
      integer_parameter("fields", {.minimum = 1, .maximum = most_fields}, "fields", "how many are transformed",
                        components),
      integer_parameter(
          "row_ranks", {.minimum = 0}, "ranks",
          "ranks of a row of the process grid, which share x and y; those of a column share y and z; 0: chosen", 0),
      choice_parameter("mode", {"blocking", "pipelined", "chunked", whole_fields},
                       "MPI_Alltoallv; a field's MPI_Ialltoallv beside the transforms of the others; each field in "
                       "chunks, whose messages travel beside the transforms of the other chunks; or on one rank FFTW's "
                       "own plan of a whole field, to compare with",
                       "blocking"),
      integer_parameter("chunks", {.minimum = 1, .maximum = most_chunks}, "chunks", "of a field in mode chunked", 4),
  };
  return table;
}

int number(const Json& point, std::string_view name) { return static_cast<int>(integer_of(point, parameters(), name)); }

Field field_of(const Json& point) {
  return {.points = {number(point, "nx"), number(point, "ny"), number(point, "nz")},
          .real = choice_of(point, parameters(), "field") == "real"};
}

Cut cut_of(const Json& point) {
  const auto mode = choice_of(point, parameters(), "mode");
  const bool chunked = mode == "chunked";
  return {.chunks = chunked ? number(point, "chunks") : 1, .nonblocking = chunked || mode == "pipelined"};
}

/// UsageError where the ranks cannot be this grid.
ProcessGrid grid_of(const Json& point, int ranks) {
  const Field field = field_of(point);
  const int asked = number(point, "row_ranks");
  if (asked > 0 && (asked > ranks || ranks % asked != 0)) {
    throw UsageError(fmt::format("row_ranks = {}: {} ranks are no rows of {}: take a divisor", asked, ranks, asked));
  }
  auto grid = nearest_to_square(ranks, field);
  if (asked > 0) {
    const ProcessGrid given{.row_ranks = asked, .column_ranks = ranks / asked};
    grid = fits(given, field) ? std::optional(given) : std::nullopt;
  }
  if (!grid) {
    const auto& [nx, ny, nz] = field.points;
    throw UsageError(fmt::format(
        "{} ranks{} cannot share {} x {} x {} {} points, each with a pencil along every axis: "
        "start fewer or take a larger field",
        ranks, asked > 0 ? fmt::format(" in rows of {}", asked) : "", nx, ny, nz, field.real ? "real" : "complex"));
  }
  return *grid;
}

ProcessGrid require_grid(const Json& point, int ranks) {
  if (of_whole_fields(point) && ranks > 1) {
    throw UsageError(fmt::format("mode {} transforms whole fields: start 1 rank instead of {}", whole_fields, ranks));
  }
  const Field field = field_of(point);
  const auto& [nx, ny, nz] = field.points;
  const auto grid = grid_of(point, ranks);
  const double most = most_points(field, grid);
  if (most > std::numeric_limits<int>::max()) {
    throw UsageError(
        fmt::format("{} x {} x {} points are {:.0f} on a rank, more than MPI counts in a message: start "
                    "more ranks",
                    nx, ny, nz, most));
  }
  return grid;
}

bool of_whole_fields(const Json& point) { return choice_of(point, parameters(), "mode") == whole_fields; }

bool is_pipelined(const Json& point) { return choice_of(point, parameters(), "mode") == "pipelined"; }

double operations_of(const Json& point) {
  constexpr double of_a_point = 5;
  constexpr double ways = 2;
  const Field field = field_of(point);
  const double of_a_transform = of_a_point * field.total() * std::log2(field.total()) * (field.real ? 0.5 : 1);
  return ways * of_a_transform * number(point, "fields");
}

std::vector<int> members_of(const ProcessGrid& grid, Group group, int rank) {
  const bool row = group == Group::row;
  const int count = row ? grid.row_ranks : grid.column_ranks;
  const int first = row ? rank / grid.row_ranks * grid.row_ranks : rank % grid.row_ranks;
  std::vector<int> members;
  members.reserve(static_cast<std::size_t>(count));
  for (int place = 0; place < count; ++place) {
    members.push_back(first + (place * (row ? 1 : grid.row_ranks)));
  }
  return members;
}

Exchange Route::exchange(Group group, int chunk, int rank) const {
  const bool row = group == Group::row;
  Exchange exchange{.before = row ? x_part(pencils_, planes(chunk)) : y_part_in_column(pencils_, columns(chunk)),
                    .after = row ? y_part_in_row(pencils_, planes(chunk)) : z_part(pencils_, columns(chunk))};
  auto& [before, after, own_before, own_after, own] = exchange;
  const auto members = members_of(pencils_.grid, group, rank);
  const auto self = static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
  own = static_cast<std::size_t>(before.counts[self]);
  own_before = before.first + static_cast<std::size_t>(before.begins[self]);
  own_after = after.first + static_cast<std::size_t>(after.begins[self]);
  before.counts[self] = 0;
  after.counts[self] = 0;
  return exchange;
}

Span Route::planes(int chunk) const noexcept { return block_of(pencils_.z.size(), cut_.chunks, chunk); }

Span Route::columns(int chunk) const noexcept { return block_of(pencils_.x.size(), cut_.chunks, chunk); }

void Route::stage(int number, bool forward_only, Steps& steps) const {
  switch (number) {
    case 0:
      along_x(steps);
      break;
    case 1:
      along_y(steps);
      break;
    case 2:
      along_z(forward_only, steps);
      break;
    case 3:
      back_along_y(steps);
      break;
    default:
      back_along_x(steps);
  }
}

void Route::along_x(Steps& steps) const {
  if (by_planes()) {
    steps.along_x_and_y(Direction::forward);
    return;
  }
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    steps.along_x(Direction::forward, planes(chunk));
    if (turns_rows()) {
      steps.pack(Side::x, planes(chunk));
      steps.start(Group::row, chunk, false);
    }
  }
}

// What arrives first is transformed beside what is still on its way. To transform all of it then would leave the next
// transpose, which needs a little of every chunk, without computation beside it.
void Route::along_y(Steps& steps) const {
  const Span all{.begin = 0, .end = pencils_.x.size()};
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (turns_rows()) {
      steps.finish(Group::row, chunk);
      steps.unpack(Side::y_in_row, planes(chunk));
    }
    if (chunk < early_) {
      steps.along_y(Direction::forward, planes(chunk), all);
    }
  }
  const Span late{.begin = planes(early_).begin, .end = pencils_.z.size()};
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (!by_planes()) {
      steps.along_y(Direction::forward, late, columns(chunk));
    }
    if (turns_columns()) {
      steps.pack(Side::y_in_column, columns(chunk));
      steps.start(Group::column, chunk, false);
    }
  }
}

void Route::along_z(bool forward_only, Steps& steps) const {
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (turns_columns()) {
      steps.finish(Group::column, chunk);
    }
    steps.along_z(Direction::forward, columns(chunk));
    if (forward_only) {
      continue;
    }
    steps.along_z(Direction::backward, columns(chunk));
    if (turns_columns()) {
      steps.start(Group::column, chunk, true);
    }
  }
}

void Route::back_along_y(Steps& steps) const {
  const Span all{.begin = 0, .end = pencils_.x.size()};
  const Span late{.begin = planes(early_).begin, .end = pencils_.z.size()};
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (turns_columns()) {
      steps.finish(Group::column, chunk);
      steps.unpack(Side::y_in_column, columns(chunk));
    }
    if (!by_planes()) {
      steps.along_y(Direction::backward, late, columns(chunk));
    }
  }
  for (int turn = 0; turn < cut_.chunks; ++turn) {
    const int chunk = (early_ + turn) % cut_.chunks;  // those that are transformed already leave first
    if (chunk < early_) {
      steps.along_y(Direction::backward, planes(chunk), all);
    }
    if (turns_rows()) {
      steps.pack(Side::y_in_row, planes(chunk));
      steps.start(Group::row, chunk, true);
    }
  }
}

void Route::back_along_x(Steps& steps) const {
  if (by_planes()) {
    steps.along_x_and_y(Direction::backward);
    return;
  }
  for (int turn = 0; turn < cut_.chunks; ++turn) {
    const int chunk = (early_ + turn) % cut_.chunks;
    if (turns_rows()) {
      steps.finish(Group::row, chunk);
      steps.unpack(Side::x, planes(chunk));
    }
    steps.along_x(Direction::backward, planes(chunk));
  }
}

std::vector<std::pair<int, int>> order_of_stages(int fields, int stages, bool pipelined) {
  std::vector<std::pair<int, int>> order;
  if (!pipelined) {
    for (int field = 0; field < fields; ++field) {
      for (int stage = 0; stage < stages; ++stage) {
        order.emplace_back(field, stage);
      }
    }
    return order;
  }
  // The last field first: its transpose is on its way before the first field waits for its own and computes.
  for (int step = 0; step < fields + stages - 1; ++step) {
    for (int field = std::min(step, fields - 1); field >= std::max(0, step - stages + 1); --field) {
      order.emplace_back(field, step - field);
    }
  }
  return order;
}

}  // namespace workloads::pencil_fft
