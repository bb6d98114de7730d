// SPDX-License-Identifier: BSD-3-Clause
#include "pencil_fft/travelling_field.h"

#include <algorithm>
#include <utility>

#include "common/mpi_process.h"

namespace workloads::pencil_fft {
namespace {

constexpr int buffers = 4;

MPI_Comm split(const std::vector<int>& members) {
  MPI_Comm group = MPI_COMM_NULL;
  require(MPI_Comm_split(MPI_COMM_WORLD, members.front(), 0, &group), "MPI_Comm_split");
  return group;
}

}  // namespace

Groups::Groups(const ProcessGrid& grid, int rank)
    : rank_(rank),
      row_(split(members_of(grid, Group::row, rank))),
      column_(split(members_of(grid, Group::column, rank))) {}

Groups::~Groups() {
  MPI_Comm_free(&row_);
  MPI_Comm_free(&column_);
}

TravellingField::TravellingField(Route route, const Groups& groups)
    : route_(route),
      groups_(groups),
      x_pencils_(route_.pencils().points()),
      y_pencils_(route_.turns_rows() ? x_pencils_.size() : 0),
      sent_(route_.turns_rows() || route_.turns_columns() ? x_pencils_.size() : 0),
      arrived_(sent_.size()) {
  for (int chunk = 0; chunk < route_.cut().chunks; ++chunk) {
    in_row_.push_back({.exchange = route_.exchange(Group::row, chunk, groups.rank())});
    in_column_.push_back({.exchange = route_.exchange(Group::column, chunk, groups.rank())});
  }
}

class TravellingField::CarriedOut final : public Steps {
 public:
  CarriedOut(TravellingField& field, const Transforms& transforms, Phases& phases)
      : field_(field), transforms_(transforms), phases_(phases) {}

  void along_x(Direction direction, Span planes) override {
    transforms_.along_x(direction, planes, field_.x_pencils_.data());
  }
  void along_y(Direction direction, Span planes, Span columns) override {
    transforms_.along_y(direction, planes, columns, field_.y_pencils());
  }
  void along_z(Direction direction, Span columns) override {
    transforms_.along_z(direction, columns, field_.z_pencils());
  }
  void along_x_and_y(Direction direction) override { transforms_.along_x_and_y(direction, field_.x_pencils_.data()); }

  void pack(Side side, Span chunk) override {
    pencil_fft::pack(field_.route_.pencils(), side, chunk, values_of(side), field_.sent_.data());
  }
  void unpack(Side side, Span chunk) override {
    // back from pencils along z, which are their own message, it arrives where the others are sent from
    const auto& messages = side == Side::y_in_column ? field_.sent_ : field_.arrived_;
    pencil_fft::unpack(field_.route_.pencils(), side, chunk, messages.data(), values_of(side));
  }

  void start(Group group, int chunk, bool back) override {
    auto& [exchange, request] = field_.travelling(group, chunk);
    const bool leaves_z = group == Group::column && back;
    const Complex* from = (leaves_z ? field_.arrived_ : field_.sent_).data();
    Complex* to = (leaves_z ? field_.sent_ : field_.arrived_).data();
    const Part& out = back ? exchange.after : exchange.before;
    const Part& in = back ? exchange.before : exchange.after;
    const MPI_Comm comm = field_.groups_.of(group);
    phases_.communicate([&, &request = request] {
      if (field_.route_.cut().nonblocking) {
        require(MPI_Ialltoallv(from + out.first, out.counts.data(), out.begins.data(), MPI_C_DOUBLE_COMPLEX,
                               to + in.first, in.counts.data(), in.begins.data(), MPI_C_DOUBLE_COMPLEX, comm, &request),
                "MPI_Ialltoallv");
      } else {
        require(MPI_Alltoallv(from + out.first, out.counts.data(), out.begins.data(), MPI_C_DOUBLE_COMPLEX,
                              to + in.first, in.counts.data(), in.begins.data(), MPI_C_DOUBLE_COMPLEX, comm),
                "MPI_Alltoallv");
      }
    });
    // Were the own block sent, MPICH 5.0.2 would send nothing of a large MPI_Ialltoallv beside a computation, though
    // somebody calls MPI_Test every half millisecond.
    const auto [own_from, own_to] =
        back ? std::pair(exchange.own_after, exchange.own_before) : std::pair(exchange.own_before, exchange.own_after);
    std::copy_n(from + own_from, exchange.own, to + own_to);
  }

  void finish(Group group, int chunk) override {
    MPI_Request& request = field_.travelling(group, chunk).request;
    if (request != MPI_REQUEST_NULL) {
      // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): it was started by start(), out of the checker's sight
      phases_.communicate([&] { require(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait"); });
    }
  }

 private:
  [[nodiscard]] Complex* values_of(Side side) const {
    return side == Side::x ? field_.x_pencils_.data() : field_.y_pencils();
  }

  TravellingField& field_;
  const Transforms& transforms_;
  Phases& phases_;
};

void TravellingField::stage(int number, const Transforms& transforms, Phases& phases, bool forward_only) {
  CarriedOut steps(*this, transforms, phases);
  route_.stage(number, forward_only, steps);
}

double values_of_a_field(const Field& field, const ProcessGrid& grid) { return buffers * most_points(field, grid); }

}  // namespace workloads::pencil_fft
