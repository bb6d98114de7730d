// SPDX-License-Identifier: BSD-3-Clause
// NPB CG: the largest eigenvalue of a sparse matrix by the inverse power method, each step of which solves by conjugate
// gradients.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/memory.h"
#include "npb/benchmarks.h"
#include "npb/cg_product.h"
#include "npb/kernel.h"

namespace workloads::npb::cg {
namespace {

constexpr int pieces_beside = 4;  // of the row sums, in the overlapped mode

const Parameters& parameters() {
  static const auto table =
      kernel_parameters("a matrix of order 1,400 (S), 7,000 (W), 14,000 (A), 75,000 (B), 150,000 (C) or 1,500,000 (D)");
  return table;
}

const CgClass& problem_of(const Json& point) { return find_class(cg_classes(), point); }

void check(const Json& point, int ranks) {
  const auto& problem = problem_of(point);
  require_ranks(point, ranks, 1, static_cast<int>(std::bit_floor(static_cast<unsigned>(problem.n))));
  constexpr double vectors = 8;
  const double elements = std::pow(problem.nonzeros + 1, 2) * problem.n / ranks;
  const double places = vectors * problem.n / std::sqrt(ranks);
  require_memory("class " + class_of(point), (elements * (sizeof(int) + sizeof(double))) + (places * sizeof(double)));
}

class Cg final : public Kernel {
 public:
  explicit Cg(const Preparation& preparation)
      : problem_(problem_of(preparation.point)),
        grid_(problem_.n, preparation.mpi.rank(), preparation.mpi.size()),
        matrix_(cg_matrix(problem_, grid_.rows(), grid_.columns())),
        product_(matrix_, grid_, preparation.mpi.rank(), is_overlapped(preparation.point) ? pieces_beside : 1) {
    for (auto* vector : {&x_, &z_, &p_, &q_, &r_}) {
      vector->resize(static_cast<std::size_t>(grid_.columns().size()));
    }
  }

  void restart() override {
    std::ranges::fill(x_, 1);
    zeta_ = 0;
    largest_residual_ = 0;
  }

  void run(Phases& phases) override {
    for (int iteration = 0; iteration < problem_.iterations; ++iteration) {
      largest_residual_ = std::max(largest_residual_, solve(phases));
      std::array<double, 2> sums{dot(x_, z_), dot(z_, z_)};
      product_.add_up(sums, phases);
      zeta_ = problem_.shift + (1 / sums[0]);
      std::ranges::fill(x_, 0);
      add(1 / std::sqrt(sums[1]), z_, x_);
    }
  }

  std::string verify() override {
    // The method finds its eigenvalue again after a wrong solution: each solution is checked by itself.
    constexpr double residual = 1e-8;
    if (!(largest_residual_ <= residual)) {
      return fmt::format("class {}: a solution's residual is {:.3e}, and {:.0e} is the most", problem_.name,
                         largest_residual_, residual);
    }
    return is_right(problem_, zeta_)
               ? ""
               : fmt::format("class {}: zeta is {:.13e}, and {:.13e} is right", problem_.name, zeta_, problem_.zeta);
  }

  /// As the benchmark counts them.
  [[nodiscard]] double operations() const override {
    const double elements = problem_.nonzeros * (problem_.nonzeros + 1);
    return 2.0 * problem_.iterations * problem_.n * (3 + elements + (cg_steps * (5 + elements)) + 3);
  }

 private:
  double square(const std::vector<double>& vector, Phases& phases) const {
    double sum = dot(vector, vector);
    product_.add_up(std::span(&sum, 1), phases);
    return sum;
  }

  /// A z = x by conjugate gradients from 0; returns the norm of x - A z.
  double solve(Phases& phases) {
    std::ranges::fill(z_, 0);
    r_ = x_;
    p_ = x_;
    double rho = square(r_, phases);
    for (int step = 0; step < cg_steps; ++step) {
      product_.multiply(p_, q_, phases);
      double curvature = dot(p_, q_);
      product_.add_up(std::span(&curvature, 1), phases);
      const double alpha = rho / curvature;
      add(alpha, p_, z_);
      add(-alpha, q_, r_);
      const double before = rho;
      rho = square(r_, phases);
      scale_and_add(rho / before, r_, p_);
    }
    product_.multiply(z_, q_, phases);
    std::ranges::copy(x_, r_.begin());
    add(-1, q_, r_);
    return std::sqrt(square(r_, phases));
  }

  const CgClass& problem_;
  CgGrid grid_;
  SparseBlock matrix_;
  CgProduct product_;
  std::vector<double> x_;
  std::vector<double> z_;
  std::vector<double> p_;
  std::vector<double> q_;
  std::vector<double> r_;
  double zeta_ = 0;
  double largest_residual_ = 0;
};

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  return experiment_of(preparation, std::make_unique<Cg>(preparation));
}

}  // namespace
}  // namespace workloads::npb::cg

namespace workloads {

const Benchmark& cg_benchmark() {
  static const Benchmark benchmark{
      .name = "cg",
      .question = "NPB CG: how long do short vectors take, sent again and again, and a sparse matrix's product?",
      .parameters = npb::cg::parameters(),
      .quantities = kernel_quantities(),
      .check = npb::cg::check,
      .prepare = npb::cg::prepare,
  };
  return benchmark;
}

}  // namespace workloads
