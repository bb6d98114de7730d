// SPDX-License-Identifier: BSD-3-Clause
// The one-dimensional transforms of a rank's pencils, and what their result must be.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "pencil_fft/problem.h"

namespace workloads::pencil_fft {

/// Transforms of a chunk at a time, in place. Not scaled: forward and backward multiply a field by its points.
class Transforms {
 public:
  /// For `chunks` chunks of this rank's planes and x. Plans on `values`, Pencils::points() of them, and overwrites
  /// them.
  Transforms(const Pencils& pencils, int chunks, Complex* values);

  void along_x(Direction direction, Span planes, Complex* x_pencils) const;
  void along_y(Direction direction, Span planes, Span columns, Complex* y_pencils) const;
  void along_z(Direction direction, Span columns, Complex* z_pencils) const;
  /// Along x and y, plane by plane: a plane is read from memory once. For rows of one rank.
  void along_x_and_y(Direction direction, Complex* pencils) const;

 private:
  using Both = std::array<fft::Plan, 2>;
  [[nodiscard]] bool turns_columns() const noexcept { return pencils_.grid.column_ranks > 1; }

  Pencils pencils_;
  Both x_;
  std::map<int, Both> y_;  ///< by how many x
  std::map<int, Both> z_;
};

/// All three axes of a field at once by FFTW's own plan, in place, not scaled. For one rank, which has a whole field.
class WholeTransform {
 public:
  /// Plans on `values`, a field's, and overwrites them.
  WholeTransform(const Field& field, Complex* values);

  void operator()(Direction direction, Complex* values) const;

 private:
  std::array<fft::Plan, 2> plans_;
};

/// Random numbers around 0, the same for a point however the field is cut.
class RandomField {
 public:
  explicit RandomField(const Field& field) : field_(field) {}

  /// The row of all x at y and z: complex values, or as many reals.
  void row(int y, int z, Complex* values) const;
  /// Of its values, and of its spectrum, the root of the mean square.
  [[nodiscard]] double size() const;
  [[nodiscard]] double size_of_spectrum() const;

 private:
  Field field_;
};

/// A rank's x and y of the spectrum of a RandomField, transformed by this rank alone, [z][y][x] without chunks. Plane
/// after plane: no rank needs the memory of a whole field.
std::vector<Complex> serial_spectrum(const Pencils& pencils);

/// Where value (x, y, z), counted from this rank's first ones, is in pencils along z cut into `chunks`.
std::size_t place_along_z(const Pencils& pencils, int chunks, int x, int y, int z);

}  // namespace workloads::pencil_fft
