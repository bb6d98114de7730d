// SPDX-License-Identifier: BSD-3-Clause
#include "pencil_fft/travelling_field.h"

#include <algorithm>
#include <utility>

#include "common/mpi_process.h"

namespace workloads::pencil_fft {
namespace {

constexpr int buffers = 4;

MPI_Comm split(int colour) {
  MPI_Comm group = MPI_COMM_NULL;
  require(MPI_Comm_split(MPI_COMM_WORLD, colour, 0, &group), "MPI_Comm_split");
  return group;
}

}  // namespace

Groups::Groups(const ProcessGrid& grid, int rank)
    : row_(split(rank / grid.row_ranks)), column_(split(rank % grid.row_ranks)) {}

Groups::~Groups() {
  MPI_Comm_free(&row_);
  MPI_Comm_free(&column_);
}

TravellingField::TravellingField(const Pencils& pencils, const Groups& groups, const Cut& cut)
    : pencils_(pencils),
      groups_(groups),
      cut_(cut),
      early_(cut.chunks / 2),
      x_pencils_(pencils.points()),
      y_pencils_(turns_rows() ? pencils.points() : 0),
      sent_(turns_rows() || turns_columns() ? pencils.points() : 0),
      arrived_(sent_.size()) {
  for (int chunk = 0; chunk < cut.chunks; ++chunk) {
    in_row_.emplace_back(x_part(pencils, planes(chunk)), y_part_in_row(pencils, planes(chunk)), groups.row());
    in_column_.emplace_back(y_part_in_column(pencils, columns(chunk)), z_part(pencils, columns(chunk)),
                            groups.column());
  }
}

// Were the own block sent, MPICH 5.0.2 would send nothing of a large MPI_Ialltoallv beside a computation, though
// somebody calls MPI_Test every half millisecond.
TravellingField::Exchange::Exchange(Part before_it, Part after_it, MPI_Comm group)
    : before(std::move(before_it)), after(std::move(after_it)) {
  int rank = 0;
  require(MPI_Comm_rank(group, &rank), "MPI_Comm_rank");
  const auto self = static_cast<std::size_t>(rank);
  own = static_cast<std::size_t>(before.counts[self]);
  own_before = before.first + static_cast<std::size_t>(before.begins[self]);
  own_after = after.first + static_cast<std::size_t>(after.begins[self]);
  before.counts[self] = 0;
  after.counts[self] = 0;
}

Span TravellingField::planes(int chunk) const noexcept { return block_of(pencils_.z.size(), cut_.chunks, chunk); }

Span TravellingField::columns(int chunk) const noexcept { return block_of(pencils_.x.size(), cut_.chunks, chunk); }

Complex* TravellingField::y_pencils() noexcept { return turns_rows() ? y_pencils_.data() : x_pencils_.data(); }

Complex* TravellingField::z_pencils() noexcept { return turns_columns() ? arrived_.data() : y_pencils(); }

void TravellingField::stage(int number, const Transforms& transforms, Phases& phases, bool forward_only) {
  switch (number) {
    case 0:
      along_x(transforms, phases);
      break;
    case 1:
      along_y(transforms, phases);
      break;
    case 2:
      along_z(transforms, phases, forward_only);
      break;
    case 3:
      back_along_y(transforms, phases);
      break;
    default:
      back_along_x(transforms, phases);
  }
}

void TravellingField::along_x(const Transforms& transforms, Phases& phases) {
  if (by_planes()) {
    transforms.along_x_and_y(Direction::forward, x_pencils_.data());
    return;
  }
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    transforms.along_x(Direction::forward, planes(chunk), x_pencils_.data());
    if (turns_rows()) {
      pack(pencils_, Side::x, planes(chunk), x_pencils_.data(), sent_.data());
      start(in_row_[static_cast<std::size_t>(chunk)], groups_.row(), false, sent_.data(), arrived_.data(), phases);
    }
  }
}

// What arrives first is transformed beside what is still on its way. To transform all of it then would leave the next
// transpose, which needs a little of every chunk, without computation beside it.
void TravellingField::along_y(const Transforms& transforms, Phases& phases) {
  const Span all{.begin = 0, .end = pencils_.x.size()};
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (turns_rows()) {
      finish(in_row_[static_cast<std::size_t>(chunk)], phases);
      unpack(pencils_, Side::y_in_row, planes(chunk), arrived_.data(), y_pencils());
    }
    if (chunk < early_) {
      transforms.along_y(Direction::forward, planes(chunk), all, y_pencils());
    }
  }
  const Span late{.begin = planes(early_).begin, .end = pencils_.z.size()};
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (!by_planes()) {
      transforms.along_y(Direction::forward, late, columns(chunk), y_pencils());
    }
    if (turns_columns()) {
      pack(pencils_, Side::y_in_column, columns(chunk), y_pencils(), sent_.data());
      start(in_column_[static_cast<std::size_t>(chunk)], groups_.column(), false, sent_.data(), arrived_.data(),
            phases);
    }
  }
}

void TravellingField::along_z(const Transforms& transforms, Phases& phases, bool forward_only) {
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    auto& exchange = in_column_[static_cast<std::size_t>(chunk)];
    finish(exchange, phases);
    transforms.along_z(Direction::forward, columns(chunk), z_pencils());
    if (forward_only) {
      continue;
    }
    transforms.along_z(Direction::backward, columns(chunk), z_pencils());
    if (turns_columns()) {
      start(exchange, groups_.column(), true, arrived_.data(), sent_.data(), phases);
    }
  }
}

void TravellingField::back_along_y(const Transforms& transforms, Phases& phases) {
  const Span all{.begin = 0, .end = pencils_.x.size()};
  const Span late{.begin = planes(early_).begin, .end = pencils_.z.size()};
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (turns_columns()) {
      finish(in_column_[static_cast<std::size_t>(chunk)], phases);
      unpack(pencils_, Side::y_in_column, columns(chunk), sent_.data(), y_pencils());
    }
    if (!by_planes()) {
      transforms.along_y(Direction::backward, late, columns(chunk), y_pencils());
    }
  }
  for (int turn = 0; turn < cut_.chunks; ++turn) {
    const int chunk = (early_ + turn) % cut_.chunks;  // those that are transformed already leave first
    if (chunk < early_) {
      transforms.along_y(Direction::backward, planes(chunk), all, y_pencils());
    }
    if (turns_rows()) {
      pack(pencils_, Side::y_in_row, planes(chunk), y_pencils(), sent_.data());
      start(in_row_[static_cast<std::size_t>(chunk)], groups_.row(), true, sent_.data(), arrived_.data(), phases);
    }
  }
}

void TravellingField::back_along_x(const Transforms& transforms, Phases& phases) {
  if (by_planes()) {
    transforms.along_x_and_y(Direction::backward, x_pencils_.data());
    return;
  }
  for (int turn = 0; turn < cut_.chunks; ++turn) {
    const int chunk = (early_ + turn) % cut_.chunks;
    if (turns_rows()) {
      finish(in_row_[static_cast<std::size_t>(chunk)], phases);
      unpack(pencils_, Side::x, planes(chunk), arrived_.data(), x_pencils_.data());
    }
    transforms.along_x(Direction::backward, planes(chunk), x_pencils_.data());
  }
}

void TravellingField::start(Exchange& exchange, MPI_Comm group, bool back, const Complex* from, Complex* to,
                            Phases& phases) {
  const Part& out = back ? exchange.after : exchange.before;
  const Part& in = back ? exchange.before : exchange.after;
  phases.communicate([&] {
    if (cut_.nonblocking) {
      require(
          MPI_Ialltoallv(from + out.first, out.counts.data(), out.begins.data(), MPI_C_DOUBLE_COMPLEX, to + in.first,
                         in.counts.data(), in.begins.data(), MPI_C_DOUBLE_COMPLEX, group, &exchange.request),
          "MPI_Ialltoallv");
    } else {
      require(MPI_Alltoallv(from + out.first, out.counts.data(), out.begins.data(), MPI_C_DOUBLE_COMPLEX, to + in.first,
                            in.counts.data(), in.begins.data(), MPI_C_DOUBLE_COMPLEX, group),
              "MPI_Alltoallv");
    }
  });
  const auto [own_from, own_to] =
      back ? std::pair(exchange.own_after, exchange.own_before) : std::pair(exchange.own_before, exchange.own_after);
  std::copy_n(from + own_from, exchange.own, to + own_to);
}

void TravellingField::finish(Exchange& exchange, Phases& phases) {
  if (exchange.request != MPI_REQUEST_NULL) {
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): it was started by start(), out of the checker's sight
    phases.communicate([&] { require(MPI_Wait(&exchange.request, MPI_STATUS_IGNORE), "MPI_Wait"); });
  }
}

double values_of_a_field(const Field& field, const ProcessGrid& grid) { return buffers * most_points(field, grid); }

}  // namespace workloads::pencil_fft
