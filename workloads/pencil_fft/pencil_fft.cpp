// SPDX-License-Identifier: BSD-3-Clause
// Transforms of fields that are cut into pencils, forward and backward (study fft).
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "common/errors.h"
#include "common/experiment.h"
#include "common/kernel.h"
#include "common/mpi_process.h"
#include "common/noncopyable.h"
#include "pencil_fft/problem.h"

namespace workloads::pencil_fft {

// A field on its way from pencils along x to pencils along z and back: the steps of its stages, carried out.

/// The ranks of this rank's row and of its column.
class Groups : NonCopyable {
 public:
  Groups(const ProcessGrid& grid, int rank);
  ~Groups();

  [[nodiscard]] MPI_Comm of(Group group) const noexcept { return group == Group::row ? row_ : column_; }
  /// This process's.
  [[nodiscard]] int rank() const noexcept { return rank_; }

 private:
  int rank_;
  MPI_Comm row_ = MPI_COMM_NULL;
  MPI_Comm column_ = MPI_COMM_NULL;
};

/// All functions that are not const are collective: all ranks call the same stages of the same fields in one order.
class TravellingField : NonCopyable {
 public:
  TravellingField(Route route, const Groups& groups);

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

namespace {

constexpr int buffers = 4;

MPI_Comm split(const std::vector<int>& members) {
  MPI_Comm group = MPI_COMM_NULL;
  require(MPI_Comm_split(MPI_COMM_WORLD, members.front(), 0, &group));
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
                               to + in.first, in.counts.data(), in.begins.data(), MPI_C_DOUBLE_COMPLEX, comm,
                               &request));
      } else {
        require(MPI_Alltoallv(from + out.first, out.counts.data(), out.begins.data(), MPI_C_DOUBLE_COMPLEX,
                              to + in.first, in.counts.data(), in.begins.data(), MPI_C_DOUBLE_COMPLEX, comm));
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
      phases_.communicate([&] { require(MPI_Wait(&request, MPI_STATUS_IGNORE)); });
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

// Fourier transforms of several fields, forward and backward, the fields cut into pencils (the flow is P3DFFT's).
//
// Point: nx, ny, nz, field (complex, real), fields (3), row_ranks (0: chosen), mode, chunks (4). Samples: those of
// every kernel; Mop/s are millions of 5 N log2 N operations for a complex transform of N points and half of that for a
// real one.

namespace workloads::pencil_fft {
namespace {

constexpr double tolerance = 1e-12;

void check(const Json& point, int ranks) {
  const auto grid = require_grid(point, ranks);
  const Field field = field_of(point);
  const auto& [nx, ny, nz] = field.points;
  const int fields = number(point, "fields");
  const double expected = most_points(field, grid) + (1.0 * ny * field.width());
  require_memory(fmt::format("{} field{} of {} x {} x {} points", fields, fields == 1 ? "" : "s", nx, ny, nz),
                 sizeof(Complex) * ((fields * values_of_a_field(field, grid)) + expected));
}

/// Fields are one random field times factors of their own, so that one serial transform is what all must agree with,
/// and none can be taken for another.
double factor_of(std::size_t field) { return 1 + (static_cast<double>(field) / 8); }

class PencilFft final : public Kernel {
 public:
  explicit PencilFft(const Preparation& preparation)
      : cut_(cut_of(preparation.point)),
        pipelined_(is_pipelined(preparation.point)),
        pencils_(field_of(preparation.point), grid_of(preparation.point, preparation.mpi.size()),
                 preparation.mpi.rank()),
        operations_(operations_of(preparation.point)),
        numbers_(pencils_.field),
        groups_(pencils_.grid, preparation.mpi.rank()),
        fields_(make_fields(number(preparation.point, "fields"))),
        transforms_(pencils_, cut_.chunks, fields_.front().x_pencils()) {
    if (of_whole_fields(preparation.point)) {
      whole_.emplace(pencils_.field, fields_.front().x_pencils());
    }
  }

  void restart() override {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      for_each_row(
          [&](int y, int z, Complex* row) {
            numbers_.row(y, z, row);
            std::for_each_n(as_reals(row), reals_of_a_row(), [&](double& value) { value *= factor_of(f); });
          },
          fields_[f].x_pencils());
    }
  }

  void run(Phases& phases) override { travel(Route::stages, phases); }

  std::string verify() override {
    std::string problem;
    for (std::size_t f = 0; f < fields_.size() && problem.empty(); ++f) {
      problem = compare_with_the_start(f);
    }
    if (spectrum_is_verified_) {
      return problem;
    }
    auto problem_there = verify_spectrum();  // by all ranks, whatever this one has found
    return problem.empty() ? problem_there : problem;
  }

  [[nodiscard]] double operations() const override { return operations_; }

 private:
  static double* as_reals(Complex* values) { return reinterpret_cast<double*>(values); }

  [[nodiscard]] int reals_of_a_row() const { return pencils_.field.points[0] * (pencils_.field.real ? 1 : 2); }

  std::deque<TravellingField> make_fields(int count) const {
    std::deque<TravellingField> fields;
    for (int f = 0; f < count; ++f) {
      fields.emplace_back(Route(pencils_, cut_), groups_);
    }
    return fields;
  }

  template <class Action>
  void for_each_row(Action action, Complex* x_pencils) const {
    for (int z = pencils_.z.begin; z < pencils_.z.end; ++z) {
      for (int y = pencils_.y_along_x.begin; y < pencils_.y_along_x.end; ++y, x_pencils += pencils_.field.width()) {
        action(y, z, x_pencils);
      }
    }
  }

  /// The first `stages` of all fields: one after another or, pipelined, each a stage behind the one before it.
  void travel(int stages, Phases& phases) {
    const auto fields = static_cast<int>(fields_.size());
    const bool forward_only = stages == Route::forward_stages;
    if (whole_) {
      for (auto& field : fields_) {
        (*whole_)(Direction::forward, field.x_pencils());
        if (!forward_only) {
          (*whole_)(Direction::backward, field.x_pencils());
        }
      }
      return;
    }
    for (const auto& [field, stage] : order_of_stages(fields, stages, pipelined_)) {
      fields_[static_cast<std::size_t>(field)].stage(stage, transforms_, phases, forward_only);
    }
  }

  std::string compare_with_the_start(std::size_t f) {
    const double scale = pencils_.field.total() * factor_of(f);
    const double allowed = tolerance * scale * numbers_.size();
    std::vector<Complex> right(static_cast<std::size_t>(pencils_.field.width()));
    std::string problem;
    for_each_row(
        [&](int y, int z, Complex* row) {
          numbers_.row(y, z, right.data());
          for (int i = 0; i < reals_of_a_row(); ++i) {
            const double expected = as_reals(right.data())[i] * scale;
            const double value = as_reals(row)[i];
            if (!(std::abs(value - expected) <= allowed) && problem.empty()) {
              problem = fmt::format(
                  "field {}: forward and backward made {:.15e} of number {} of row y = {}, z = {}, and "
                  "{:.15e} is right",
                  f, value, i, y, z, expected);
            }
          }
        },
        fields_[f].x_pencils());
    return problem;
  }

  /// The forward transform once, in this mode, against a serial one.
  std::string verify_spectrum() {
    restart();
    Phases untimed(1);
    travel(Route::forward_stages, untimed);
    spectrum_is_verified_ = true;
    const auto right = serial_spectrum(pencils_);
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      if (auto problem = compare_with(right, f); !problem.empty()) {
        return problem;
      }
    }
    return {};
  }

  std::string compare_with(const std::vector<Complex>& spectrum, std::size_t f) {
    const double factor = factor_of(f);
    const double allowed = tolerance * factor * numbers_.size_of_spectrum();
    auto next = spectrum.begin();
    for (int z = 0; z < pencils_.field.points[2]; ++z) {
      for (int y = 0; y < pencils_.y_along_z.size(); ++y) {
        for (int x = 0; x < pencils_.x.size(); ++x) {
          const Complex right = *next++ * factor;
          const Complex value = fields_[f].z_pencils()[place_along_z(pencils_, cut_.chunks, x, y, z)];
          if (!(std::abs(value - right) <= allowed)) {
            return fmt::format(
                "field {}: wave ({}, {}, {}) is {:.15e} {:+.15e} i, and {:.15e} {:+.15e} i by a serial "
                "transform",
                f, pencils_.x.begin + x, pencils_.y_along_z.begin + y, z, value.real(), value.imag(), right.real(),
                right.imag());
          }
        }
      }
    }
    return {};
  }

  Cut cut_;
  bool pipelined_;
  Pencils pencils_;
  double operations_;
  RandomField numbers_;
  Groups groups_;
  std::deque<TravellingField> fields_;  // a deque: they stay where they are
  Transforms transforms_;
  std::optional<WholeTransform> whole_;
  bool spectrum_is_verified_ = false;
};

const Benchmark& benchmark() {
  static const Benchmark table{
      .name = "transform",
      .question = "How long do three-dimensional Fourier transforms take whose transposes travel alone or beside them?",
      .parameters = pencil_fft::parameters(),
      .quantities = kernel_quantities(),
      .check = pencil_fft::check,
      .prepare = make_kernel<pencil_fft::PencilFft>,
  };
  return table;
}

}  // namespace
}  // namespace workloads::pencil_fft

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "pencil_fft",
          .purpose = "Three-dimensional Fourier transforms of fields cut into pencils, whose transposes are messages.",
          .example = "Example: mpiexec -n 4 pencil_fft transform --point nx=128,ny=128,nz=128,mode=pipelined",
          .benchmarks = {&workloads::pencil_fft::benchmark()},
      },
      argc, argv);
}
