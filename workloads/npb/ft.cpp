// SPDX-License-Identifier: BSD-3-Clause
// NPB FT: a field is transformed, then evolved and transformed back in each iteration, in planes while there is one for
// each rank. Overlapped, chunks of columns travel beside the transforms of those before and after them.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/mpi_process.h"
#include "npb/ft_kernel.h"
#include "npb/npb.h"

namespace workloads::npb::ft {
namespace {

constexpr int chunks_beside = 4;  // in the overlapped mode

const Parameters& parameters() {
  static const auto table = kernel_parameters(
      "64^3 (S), 128^2 x 32 (W), 256^2 x 128 (A), 512 x 256^2 (B), 512^3 (C) or 2048 x 1024^2 (D) points");
  return table;
}

const FtClass& problem_of(const Json& point) { return find_class(ft_classes(), point); }

void check(const Json& point, int ranks) {
  const auto& problem = problem_of(point);
  constexpr double most_points = 1U << 30U;  // of one message: MPI counts them by an int
  int least = 1;
  while (problem.total() / least / least > most_points) {
    least *= 2;
  }
  require_ranks(point, ranks, least, problem.points[2]);
  constexpr double fields = 4;
  require_memory("class " + class_of(point), problem.total() / ranks * ((fields * sizeof(Complex)) + sizeof(double)));
}

class Ft final : public Kernel {
 public:
  explicit Ft(const Preparation& preparation)
      : problem_(problem_of(preparation.point)),
        overlapped_(is_overlapped(preparation.point)),
        share_(problem_, preparation.mpi.rank(), preparation.mpi.size(), overlapped_ ? chunks_beside : 1),
        decay_(share_.points()),
        spectrum_(share_.points()),
        columns_(share_.points()),
        messages_(share_.points()),
        planes_(share_.points()),
        requests_(static_cast<std::size_t>(share_.chunks), MPI_REQUEST_NULL),
        forward_(share_, true, planes_, spectrum_),
        backward_(share_, false, planes_, columns_),
        sums_(problem_.sums.size()) {}

  void restart() override {}  // all of it is made in the time that is measured

  void run(Phases& phases) override {
    ft_decay(share_, decay_);
    ft_start(share_, planes_);
    transform(phases);
    for (Complex& sum : sums_) {
      transform_back(phases);
      const Complex mine = ft_sum(share_, planes_);
      phases.communicate(
          [&] { require(MPI_Reduce(&mine, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD)); });
    }
  }

  std::string verify() override {
    for (std::size_t i = 0; i < sums_.size() && share_.rank == 0; ++i) {
      if (!is_right(problem_, i, sums_[i])) {
        const Complex right = problem_.sums[i];
        return fmt::format("class {}: the sum of iteration {} is {:.12e} {:+.12e} i, and {:.12e} {:+.12e} i is right",
                           problem_.name, i + 1, sums_[i].real(), sums_[i].imag(), right.real(), right.imag());
      }
    }
    return {};
  }

  /// As the benchmark counts them.
  [[nodiscard]] double operations() const override {
    const double points = problem_.total();
    const auto iterations = static_cast<double>(problem_.sums.size());
    return points * (14.8157 + (7.19641 * std::log(points)) + ((5.23518 + (7.21113 * std::log(points))) * iterations));
  }

 private:
  std::span<Complex> chunk_of(std::vector<Complex>& field, int chunk) const {
    return std::span(field).subspan(static_cast<std::size_t>(chunk) * share_.chunk(), share_.chunk());
  }

  /// The field in planes to its spectrum in columns.
  void transform(Phases& phases) {
    for (int chunk = 0; chunk < share_.chunks; ++chunk) {
      forward_.along_x(chunk, planes_);
    }
    forward_.along_y(planes_);
    for (int chunk = 0; chunk < share_.chunks; ++chunk) {
      ft_pack(share_, chunk, planes_, chunk_of(messages_, chunk));
      start(chunk, messages_, spectrum_, phases);
    }
    for (int chunk = 0; chunk < share_.chunks; ++chunk) {
      finish(chunk, phases);
      forward_.along_z(chunk, spectrum_);
    }
  }

  /// The next iteration's spectrum, to the field in planes.
  void transform_back(Phases& phases) {
    for (int chunk = 0; chunk < share_.chunks; ++chunk) {
      const auto decay = std::span(decay_).subspan(static_cast<std::size_t>(chunk) * share_.chunk(), share_.chunk());
      ft_evolve(decay, chunk_of(spectrum_, chunk), chunk_of(columns_, chunk));
      backward_.along_z(chunk, columns_);
      start(chunk, columns_, messages_, phases);
    }
    for (int chunk = 0; chunk < share_.chunks; ++chunk) {
      finish(chunk, phases);
      ft_unpack(share_, chunk, chunk_of(messages_, chunk), planes_);
      backward_.along_x(chunk, planes_);
    }
    backward_.along_y(planes_);
  }

  void start(int chunk, std::vector<Complex>& from, std::vector<Complex>& to, Phases& phases) {
    const auto out = chunk_of(from, chunk);
    const auto in = chunk_of(to, chunk);
    const auto count = static_cast<int>(share_.message());
    phases.communicate([&] {
      if (overlapped_) {
        require(MPI_Ialltoall(out.data(), count, MPI_C_DOUBLE_COMPLEX, in.data(), count, MPI_C_DOUBLE_COMPLEX,
                              MPI_COMM_WORLD, &requests_[static_cast<std::size_t>(chunk)]));
      } else {
        require(MPI_Alltoall(out.data(), count, MPI_C_DOUBLE_COMPLEX, in.data(), count, MPI_C_DOUBLE_COMPLEX,
                             MPI_COMM_WORLD));
      }
    });
  }

  void finish(int chunk, Phases& phases) {
    if (overlapped_) {
      phases.communicate([&] { require(MPI_Wait(&requests_[static_cast<std::size_t>(chunk)], MPI_STATUS_IGNORE)); });
    }
  }

  const FtClass& problem_;
  bool overlapped_;
  FtShare share_;
  std::vector<double> decay_;
  std::vector<Complex> spectrum_;  ///< in columns
  std::vector<Complex> columns_;
  std::vector<Complex> messages_;
  std::vector<Complex> planes_;
  std::vector<MPI_Request> requests_;  ///< of the chunks
  FtTransforms forward_;
  FtTransforms backward_;
  std::vector<Complex> sums_;  ///< of all ranks, on rank 0
};

}  // namespace
}  // namespace workloads::npb::ft

const workloads::Benchmark& workloads::ft_benchmark() {
  static const Benchmark benchmark{
      .name = "ft",
      .question = "NPB FT: how long does a three-dimensional Fourier transform take whose transposes are messages?",
      .parameters = npb::ft::parameters(),
      .quantities = kernel_quantities(),
      .check = npb::ft::check,
      .prepare = make_kernel<npb::ft::Ft>,
  };
  return benchmark;
}
