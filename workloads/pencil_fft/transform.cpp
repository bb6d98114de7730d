// SPDX-License-Identifier: BSD-3-Clause
// Fourier transforms of several fields, forward and backward, the fields cut into pencils (the flow is P3DFFT's).
//
// Point: nx, ny, nz, field (complex, real), fields (3), row_ranks (0: chosen), mode, chunks (4). Samples: those of
// every kernel; Mop/s are millions of 5 N log2 N operations for a complex transform of N points and half of that for a
// real one.
#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <optional>

#include "common/errors.h"
#include "common/kernel.h"
#include "common/memory.h"
#include "pencil_fft/benchmarks.h"
#include "pencil_fft/problem.h"
#include "pencil_fft/travelling_field.h"

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

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  return experiment_of(preparation, std::make_unique<PencilFft>(preparation));
}

}  // namespace
}  // namespace workloads::pencil_fft

namespace workloads {

const Benchmark& pencil_fft_benchmark() {
  static const Benchmark benchmark{
      .name = "transform",
      .question = "How long do three-dimensional Fourier transforms take whose transposes travel alone or beside them?",
      .parameters = pencil_fft::parameters(),
      .quantities = kernel_quantities(),
      .check = pencil_fft::check,
      .prepare = pencil_fft::prepare,
  };
  return benchmark;
}

}  // namespace workloads
