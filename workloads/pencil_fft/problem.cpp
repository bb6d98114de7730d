// SPDX-License-Identifier: BSD-3-Clause
#include "pencil_fft/problem.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "common/errors.h"

namespace workloads::pencil_fft {
namespace {

constexpr int most_points_of_an_axis = 32768;
constexpr int most_fields = 64;
constexpr int most_chunks = 1024;

Parameter integer(const char* name, IntegerRange range, const char* unit, const char* meaning, int default_value) {
  return {.name = name, .domain = range, .unit = unit, .meaning = meaning, .default_value = default_value};
}

}  // namespace

const Parameters& parameters() {
  constexpr int edge = 64;
  constexpr int components = 3;  // of a velocity, as in a simulation of turbulence
  static const IntegerRange points{.minimum = 1, .maximum = most_points_of_an_axis};
  static const Parameters table{
      integer("nx", points, "points", "points along x, the axis that is contiguous in memory", edge),
      integer("ny", points, "points", "points along y", edge),
      integer("nz", points, "points", "points along z", edge),
      {
          .name = "field",
          .domain = Choices{"complex", "real"},
          .unit = "",
          .meaning = "what is transformed",
          .default_value = "complex",
      },
      integer("fields", {.minimum = 1, .maximum = most_fields}, "fields", "how many are transformed", components),
      integer("row_ranks", {.minimum = 0}, "ranks",
              "ranks of a row of the process grid, which share x and y; those of a column share y and z; 0: chosen", 0),
      {
          .name = "mode",
          .domain = Choices{"blocking", "pipelined", "chunked", whole_fields},
          .unit = "",
          .meaning = "MPI_Alltoallv; a field's MPI_Ialltoallv beside the transforms of the others; each field in "
                     "chunks, whose messages travel beside the transforms of the other chunks; or on one rank FFTW's "
                     "own plan of a whole field, to compare with",
          .default_value = "blocking",
      },
      integer("chunks", {.minimum = 1, .maximum = most_chunks}, "chunks", "of a field in mode chunked", 4),
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

}  // namespace workloads::pencil_fft
