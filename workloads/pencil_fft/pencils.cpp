// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "pencil_fft/problem.h"

namespace workloads::pencil_fft {
namespace {

std::size_t product(int a, int b, int c) { return std::size_t{1} * a * b * c; }

/// A message to or from each of `ranks`, of which `points` are cut among them and `others` go with each.
Part part_of(std::size_t first, int points, int ranks, std::size_t others) {
  Part part{.first = first, .counts = {}, .begins = {}};
  for (int rank = 0; rank < ranks; ++rank) {
    const Span block = block_of(points, ranks, rank);
    part.counts.push_back(static_cast<int>(others * block.size()));
    part.begins.push_back(static_cast<int>(others * block.begin));
  }
  return part;
}

/// Calls action(first value of the message's run, first value of the pencils' run, length).
template <class Action>
void for_each_run(const Pencils& p, Side side, Span chunk, Action action) {
  const auto [nx, ny, nz] = p.field.points;
  const int width = p.field.width();
  auto put = [&, message = std::size_t{0}](std::size_t first, std::size_t length) mutable {
    action(message, first, length);
    message += length;
  };
  const int ranks = side == Side::y_in_column ? p.grid.column_ranks : p.grid.row_ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    const Span x = block_of(width, p.grid.row_ranks, rank);
    const Span y = block_of(ny, ranks, rank);
    const Span planes = side == Side::y_in_column ? Span{.begin = 0, .end = p.z.size()} : chunk;
    for (int z = planes.begin; z < planes.end; ++z) {
      if (side == Side::x) {
        for (int row = 0; row < p.y_along_x.size(); ++row) {
          put(product(z, p.y_along_x.size(), width) + (std::size_t{1} * row * width) + x.begin, x.size());
        }
      } else if (side == Side::y_in_row || chunk.size() == p.x.size()) {
        put(product(z, ny, p.x.size()) + product(y.begin, p.x.size(), 1), product(y.size(), p.x.size(), 1));
      } else {
        for (int row = y.begin; row < y.end; ++row) {
          put(product(z, ny, p.x.size()) + product(row, p.x.size(), 1) + chunk.begin, chunk.size());
        }
      }
    }
  }
}

std::size_t first_of(const Pencils& p, Side side, Span chunk) {
  switch (side) {
    case Side::x:
      return x_part(p, chunk).first;
    case Side::y_in_row:
      return y_part_in_row(p, chunk).first;
    case Side::y_in_column:
      break;
  }
  return y_part_in_column(p, chunk).first;
}

}  // namespace

bool fits(const ProcessGrid& grid, const Field& field) noexcept {
  const auto [nx, ny, nz] = field.points;
  return grid.row_ranks <= std::min(field.width(), ny) && grid.column_ranks <= std::min(ny, nz);
}

std::optional<ProcessGrid> nearest_to_square(int ranks, const Field& field) {
  std::optional<ProcessGrid> best;
  const auto ratio = [](const ProcessGrid& grid) {
    return 1.0 * std::max(grid.row_ranks, grid.column_ranks) / std::min(grid.row_ranks, grid.column_ranks);
  };
  for (int row = 1; row <= ranks; ++row) {
    const ProcessGrid grid{.row_ranks = row, .column_ranks = ranks / row};
    if (ranks % row == 0 && fits(grid, field) && (!best || ratio(grid) < ratio(*best))) {
      best = grid;
    }
  }
  return best;
}

Pencils::Pencils(const Field& the_field, const ProcessGrid& the_grid, int rank) : field(the_field), grid(the_grid) {
  const Decomposition place(rank, {grid.column_ranks, grid.row_ranks, 1}, false);
  x = place.block(1, field.width());
  y_along_x = place.block(1, field.points[1]);
  y_along_z = place.block(0, field.points[1]);
  z = place.block(0, field.points[2]);
}

std::size_t Pencils::points() const noexcept {
  return std::max({product(z.size(), y_along_x.size(), field.width()), product(z.size(), field.points[1], x.size()),
                   product(field.points[2], y_along_z.size(), x.size())});
}

double most_points(const Field& field, const ProcessGrid& grid) {
  return static_cast<double>(Pencils(field, grid, 0).points());  // the longer blocks come first
}

Part x_part(const Pencils& p, Span planes) {
  const int rows = p.y_along_x.size();
  return part_of(product(planes.begin, rows, p.field.width()), p.field.width(), p.grid.row_ranks,
                 product(planes.size(), rows, 1));
}

Part y_part_in_row(const Pencils& p, Span planes) {
  return part_of(product(planes.begin, p.field.points[1], p.x.size()), p.field.points[1], p.grid.row_ranks,
                 product(planes.size(), p.x.size(), 1));
}

Part y_part_in_column(const Pencils& p, Span columns) {
  return part_of(product(columns.begin, p.field.points[1], p.z.size()), p.field.points[1], p.grid.column_ranks,
                 product(columns.size(), p.z.size(), 1));
}

Part z_part(const Pencils& p, Span columns) {
  return part_of(product(columns.begin, p.y_along_z.size(), p.field.points[2]), p.field.points[2], p.grid.column_ranks,
                 product(columns.size(), p.y_along_z.size(), 1));
}

void pack(const Pencils& pencils, Side side, Span chunk, const Complex* values, Complex* messages) {
  Complex* const message = messages + first_of(pencils, side, chunk);
  for_each_run(pencils, side, chunk, [&](std::size_t to, std::size_t from, std::size_t length) {
    std::copy_n(values + from, length, message + to);
  });
}

void unpack(const Pencils& pencils, Side side, Span chunk, const Complex* messages, Complex* values) {
  const Complex* const message = messages + first_of(pencils, side, chunk);
  for_each_run(pencils, side, chunk, [&](std::size_t from, std::size_t to, std::size_t length) {
    std::copy_n(message + from, length, values + to);
  });
}

}  // namespace workloads::pencil_fft
