// SPDX-License-Identifier: BSD-3-Clause
// What a rank has of a three-dimensional field cut into pencils, and what it sends to turn them. No MPI here.
//
// The ranks are a grid of rows and columns. A field begins in pencils along x, is turned within the rows to pencils
// along y, and within the columns to pencils along z:
//
// x pencils: [z of this rank][y of this rank][x], all x, that are `width` complex values;
// y pencils: [z of this rank][y][x of this rank], all y;
// z pencils: [chunk of this rank's x][z][y of this rank][x of the chunk], all z.
//
// With one rank in a row, pencils along x are pencils along y; with one in a column, pencils along y, without chunks,
// are pencils along z: nothing is turned.
#pragma once

#include <optional>
#include <vector>

#include "common/fft_plan.h"
#include "common/grid.h"

namespace workloads::pencil_fft {

using fft::Complex;

/// Points along x, y, z; of a real field's spectrum half of the x, which are enough, are kept.
struct Field {
  Triple points{};
  bool real = false;

  [[nodiscard]] int width() const noexcept { return real ? (points[0] / 2) + 1 : points[0]; }
  [[nodiscard]] double total() const noexcept { return 1.0 * points[0] * points[1] * points[2]; }
};

struct ProcessGrid {
  int row_ranks = 1;     ///< that share x and y
  int column_ranks = 1;  ///< that share y and z
};

/// Whether each rank has a pencil of every kind.
bool fits(const ProcessGrid& grid, const Field& field) noexcept;

/// The grid of `ranks` that fits and is the nearest to a square, with the fewer in a row.
std::optional<ProcessGrid> nearest_to_square(int ranks, const Field& field);

struct Pencils {
  Pencils(const Field& field, const ProcessGrid& grid, int rank);

  Field field;
  ProcessGrid grid;
  Span x;          ///< in pencils along y and z
  Span y_along_x;  ///< in pencils along x
  Span y_along_z;  ///< in pencils along z
  Span z;          ///< in pencils along x and y

  /// Complex values of the largest of the three.
  [[nodiscard]] std::size_t points() const noexcept;
};

/// What `points()` is at most on any rank.
double most_points(const Field& field, const ProcessGrid& grid);

/// One side's part of a chunk's message: its begin in the buffer, and from there what belongs to each rank.
struct Part {
  std::size_t first = 0;
  std::vector<int> counts;
  std::vector<int> begins;
};

/// The chunks of a transpose: of a rank's planes within a row, of its x within a column.
Part x_part(const Pencils& pencils, Span planes);
Part y_part_in_row(const Pencils& pencils, Span planes);
Part y_part_in_column(const Pencils& pencils, Span columns);
Part z_part(const Pencils& pencils, Span columns);  ///< these pencils are their own message

/// Which pencils a message is made of, and which parts above its layout.
enum class Side : unsigned char { x, y_in_row, y_in_column };

/// A chunk of pencils to its place in a buffer of messages, and back.
void pack(const Pencils& pencils, Side side, Span chunk, const Complex* values, Complex* messages);
void unpack(const Pencils& pencils, Side side, Span chunk, const Complex* messages, Complex* values);

}  // namespace workloads::pencil_fft
