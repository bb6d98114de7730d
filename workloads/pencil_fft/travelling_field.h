// SPDX-License-Identifier: BSD-3-Clause
// A field on its way from pencils along x to pencils along z and back, in five stages with a transpose between each two
// of them.
#pragma once

#include <mpi.h>

#include <vector>

#include "common/phases.h"
#include "pencil_fft/problem.h"
#include "pencil_fft/transforms.h"

namespace workloads::pencil_fft {

/// The ranks of this rank's row and of its column.
class Groups {
 public:
  Groups(const ProcessGrid& grid, int rank);
  ~Groups();
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  Groups(Groups&&) = delete;
  Groups& operator=(Groups&&) = delete;

  [[nodiscard]] MPI_Comm row() const noexcept { return row_; }
  [[nodiscard]] MPI_Comm column() const noexcept { return column_; }

 private:
  MPI_Comm row_ = MPI_COMM_NULL;
  MPI_Comm column_ = MPI_COMM_NULL;
};

/// All functions that are not const are collective: all ranks call the same stages of the same fields in one order.
class TravellingField {
 public:
  static constexpr int stages = 5;
  static constexpr int forward_stages = 3;

  TravellingField(const Pencils& pencils, const Groups& groups, const Cut& cut);
  TravellingField(const TravellingField&) = delete;
  TravellingField& operator=(const TravellingField&) = delete;
  TravellingField(TravellingField&&) = delete;
  TravellingField& operator=(TravellingField&&) = delete;
  ~TravellingField() = default;

  /// In pencils along x, before the first stage and after the last one.
  [[nodiscard]] Complex* x_pencils() noexcept { return x_pencils_.data(); }
  /// In pencils along z, after the third stage where it is the last one.
  [[nodiscard]] Complex* z_pencils() noexcept;

  /// Waits for what the stage before has sent, transforms, and sends it on: along x; along y; along z and, unless
  /// `forward_only`, back; along y; along x. Where rows are not turned and there are no chunks, along x and y at once
  /// in the first stage and the last.
  void stage(int number, const Transforms& transforms, Phases& phases, bool forward_only = false);

 private:
  /// A chunk's message on both sides of a transpose: what is before it, and what is after. The rank's own block is no
  /// part of it: `own` values are copied from place `own_before` to `own_after`, or back.
  struct Exchange {
    Exchange(Part before_it, Part after_it, MPI_Comm group);

    Part before;
    Part after;
    std::size_t own_before;
    std::size_t own_after;
    std::size_t own;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  [[nodiscard]] bool turns_rows() const noexcept { return pencils_.grid.row_ranks > 1; }
  [[nodiscard]] bool turns_columns() const noexcept { return pencils_.grid.column_ranks > 1; }
  /// Where nothing is sent between x and y, and no chunk of columns is sent before the others are transformed.
  [[nodiscard]] bool by_planes() const noexcept { return !turns_rows() && cut_.chunks == 1; }
  [[nodiscard]] Span planes(int chunk) const noexcept;
  [[nodiscard]] Span columns(int chunk) const noexcept;
  [[nodiscard]] Complex* y_pencils() noexcept;

  void along_x(const Transforms& transforms, Phases& phases);
  void along_y(const Transforms& transforms, Phases& phases);
  void along_z(const Transforms& transforms, Phases& phases, bool forward_only);
  void back_along_y(const Transforms& transforms, Phases& phases);
  void back_along_x(const Transforms& transforms, Phases& phases);

  void start(Exchange& exchange, MPI_Comm group, bool back, const Complex* from, Complex* to, Phases& phases);
  static void finish(Exchange& exchange, Phases& phases);

  Pencils pencils_;
  const Groups& groups_;
  Cut cut_;
  int early_;  ///< chunks of planes that are transformed along y when they arrive, the others before they leave
  std::vector<Exchange> in_row_;
  std::vector<Exchange> in_column_;
  std::vector<Complex> x_pencils_;
  std::vector<Complex> y_pencils_;
  std::vector<Complex> sent_;
  std::vector<Complex> arrived_;
};

/// Complex values of all buffers of a field.
double values_of_a_field(const Field& field, const ProcessGrid& grid);

}  // namespace workloads::pencil_fft
