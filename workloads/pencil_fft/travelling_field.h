// SPDX-License-Identifier: BSD-3-Clause
// A field on its way from pencils along x to pencils along z and back: the steps of its stages (stages.h), carried out.
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

  [[nodiscard]] MPI_Comm of(Group group) const noexcept { return group == Group::row ? row_ : column_; }
  /// This process's.
  [[nodiscard]] int rank() const noexcept { return rank_; }

 private:
  int rank_;
  MPI_Comm row_ = MPI_COMM_NULL;
  MPI_Comm column_ = MPI_COMM_NULL;
};

/// All functions that are not const are collective: all ranks call the same stages of the same fields in one order.
class TravellingField {
 public:
  TravellingField(Route route, const Groups& groups);
  TravellingField(const TravellingField&) = delete;
  TravellingField& operator=(const TravellingField&) = delete;
  TravellingField(TravellingField&&) = delete;
  TravellingField& operator=(TravellingField&&) = delete;
  ~TravellingField() = default;

  /// In pencils along x, before the first stage and after the last one.
  [[nodiscard]] Complex* x_pencils() noexcept { return x_pencils_.data(); }
  /// In pencils along z, after the third stage where it is the last one.
  [[nodiscard]] Complex* z_pencils() noexcept { return route_.turns_columns() ? arrived_.data() : y_pencils(); }

  /// As Route::stage.
  void stage(int number, const Transforms& transforms, Phases& phases, bool forward_only = false);

 private:
  class CarriedOut;
  struct Travelling {
    Exchange exchange;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  [[nodiscard]] Complex* y_pencils() noexcept { return route_.turns_rows() ? y_pencils_.data() : x_pencils_.data(); }
  [[nodiscard]] Travelling& travelling(Group group, int chunk) {
    return (group == Group::row ? in_row_ : in_column_)[static_cast<std::size_t>(chunk)];
  }

  Route route_;
  const Groups& groups_;
  std::vector<Travelling> in_row_;
  std::vector<Travelling> in_column_;
  std::vector<Complex> x_pencils_;
  std::vector<Complex> y_pencils_;
  std::vector<Complex> sent_;
  std::vector<Complex> arrived_;
};

/// Complex values of all buffers of a field.
double values_of_a_field(const Field& field, const ProcessGrid& grid);

}  // namespace workloads::pencil_fft
