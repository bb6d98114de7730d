// SPDX-License-Identifier: BSD-3-Clause
#include "minife/conjugate_gradient.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "common/mpi_process.h"

namespace workloads::minife {
namespace {

constexpr double relative_residual = 1e-10;
constexpr double relative_gap = 1e-9;  // rounding leaves some 1e-13
constexpr int iterations_between_replacements = 50;

/// Calls action(place) for each of the rank's own.
template <class Action>
void for_each_place(const Layout& layout, Action action) {
  for_each_row(layout, layout.inside(0), [&](std::size_t first, std::size_t length) {
    for (std::size_t place = first; place < first + length; ++place) {
      action(place);
    }
  });
}

/// The smallest eigenvalue of the matrix inside: the products of the three axes' own, which are known.
double smallest_eigenvalue(const Triple& nodes) {
  std::array<double, 3> stiffness{};
  std::array<double, 3> mass{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double edge = 1.0 / (nodes[axis] - 1);
    const double cosine = std::cos(std::numbers::pi * edge);
    stiffness[axis] = 2 * (1 - cosine) / edge;
    mass[axis] = edge * (2 + cosine) / 3;
  }
  return (stiffness[0] * mass[1] * mass[2]) + (mass[0] * stiffness[1] * mass[2]) + (mass[0] * mass[1] * stiffness[2]);
}

}  // namespace

ConjugateGradient::ConjugateGradient(const Matrix& matrix, Product& product, Reductions reductions, int most_iterations)
    : matrix_(matrix), product_(product), reductions_(reductions), most_iterations_(most_iterations) {
  for (auto* vector : {&x_, &r_, &p_, &q_}) {
    vector->resize(matrix_.layout().points());
  }
  for (auto* vector : {&w_, &s_, &z_}) {
    vector->resize(reductions_.pipelined ? matrix_.layout().points() : 0);
  }
}

void ConjugateGradient::start() {
  x_ = matrix_.surface();
  iterations_ = 0;
  gap_ = 0;
  for (auto* vector : {&p_, &s_, &z_}) {
    std::ranges::fill(*vector, 0);
  }
  for_each_place(matrix_.layout(), [&](std::size_t i) { r_[i] = matrix_.right_hand_side()[i] - x_[i]; });
}

void ConjugateGradient::solve(Calls& calls) {
  start();
  if (reductions_.pipelined) {
    solve_pipelined(calls);
  } else {
    solve_plain(calls);
  }
  calls.end();
}

bool ConjugateGradient::is_small(double square) const noexcept {
  return std::sqrt(square) <= relative_residual * std::sqrt(first_square_);
}

double ConjugateGradient::dot(const Vector& a, const Vector& b) const {
  double sum = 0;
  for_each_place(matrix_.layout(), [&](std::size_t i) { sum += a[i] * b[i]; });
  return sum;
}

double ConjugateGradient::sum(double mine, Calls& calls) const {
  if (reductions_.barrier_first) {
    calls.make(Call::barrier, [] { require(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); });
  }
  double all = 0;
  calls.make(Call::allreduce,
             [&] { require(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce"); });
  return all;
}

void ConjugateGradient::solve_plain(Calls& calls) {
  p_ = r_;
  first_square_ = gamma_ = sum(dot(r_, r_), calls);
  while (!is_small(gamma_) && iterations_ < most_iterations_) {
    product_.multiply(p_, q_, calls);
    alpha_ = gamma_ / sum(dot(p_, q_), calls);
    for_each_place(matrix_.layout(), [&](std::size_t i) {
      x_[i] += alpha_ * p_[i];
      r_[i] -= alpha_ * q_[i];
    });
    const double before = gamma_;
    gamma_ = sum(dot(r_, r_), calls);
    const double beta = gamma_ / before;
    for_each_place(matrix_.layout(), [&](std::size_t i) { p_[i] = r_[i] + (beta * p_[i]); });
    ++iterations_;
  }
}

// P. Ghysels, W. Vanroose, "Hiding global synchronization latency in the preconditioned conjugate gradient algorithm",
// Parallel Computing 40 (2014): one reduction an iteration, beside the product that does not need it.
void ConjugateGradient::solve_pipelined(Calls& calls) {
  product_.multiply(r_, w_, calls);
  while (pipelined_step(calls)) {
    ++iterations_;
    if (iterations_ % iterations_between_replacements == 0) {
      replace_residuals(calls);
    }
  }
}

bool ConjugateGradient::pipelined_step(Calls& calls) {
  const std::array<double, 2> mine{dot(r_, r_), dot(w_, r_)};
  std::array<double, 2> all{};
  MPI_Request request = MPI_REQUEST_NULL;
  calls.make(Call::allreduce, [&] {
    require(MPI_Iallreduce(mine.data(), all.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request),
            "MPI_Iallreduce");
  });
  product_.multiply(w_, q_, calls);
  calls.make(Call::allreduce_wait, [&] { require(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait"); });
  const auto [gamma, delta] = all;
  const bool first = iterations_ == 0;
  first_square_ = first ? gamma : first_square_;
  if (is_small(gamma) || iterations_ == most_iterations_) {
    gamma_ = gamma;
    return false;
  }
  const double beta = first ? 0 : gamma / gamma_;
  alpha_ = gamma / (first ? delta : delta - (beta * gamma / alpha_));
  gamma_ = gamma;
  for_each_place(matrix_.layout(), [&](std::size_t i) {
    z_[i] = q_[i] + (beta * z_[i]);
    s_[i] = w_[i] + (beta * s_[i]);
    p_[i] = r_[i] + (beta * p_[i]);
    x_[i] += alpha_ * p_[i];
    r_[i] -= alpha_ * s_[i];
    w_[i] -= alpha_ * z_[i];
  });
  return true;
}

// What is followed through all those sums drifts away from the truth. A drift that is more than rounding is an error
// that the replacement would hide: it is kept for verify().
void ConjugateGradient::replace_residuals(Calls& calls) {
  compute_residual(q_, calls);
  for_each_place(matrix_.layout(), [&](std::size_t i) {
    gap_ += std::pow(q_[i] - r_[i], 2);
    r_[i] = q_[i];
  });
  product_.multiply(r_, w_, calls);
  product_.multiply(p_, s_, calls);
  product_.multiply(s_, z_, calls);
}

void ConjugateGradient::compute_residual(Vector& out, Calls& calls) {
  product_.multiply(x_, out, calls);
  for_each_place(matrix_.layout(), [&](std::size_t i) { out[i] = matrix_.right_hand_side()[i] - out[i]; });
}

std::string ConjugateGradient::verify(const Triple& nodes, const Exact& exact) {
  Calls untimed(nullptr, 1);
  compute_residual(q_, untimed);
  double gap = gap_;
  for_each_place(matrix_.layout(), [&](std::size_t i) { gap += std::pow(q_[i] - r_[i], 2); });
  const auto error = exact.compare(x_);
  std::array<double, 4> sums{gap, dot(q_, q_), error.squares, error.nodes};
  require(MPI_Allreduce(MPI_IN_PLACE, sums.data(), sums.size(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  const double first = std::sqrt(first_square_);
  true_residual_ = std::sqrt(sums[1]) / first;
  if (const double difference = std::sqrt(sums[0]) / first; !(difference <= relative_gap)) {
    return fmt::format(
        "after {} iterations b - A x and the residual that they followed differ by {:.2e} of the first "
        "residual, and {:.0e} is the most",
        iterations_, difference, relative_gap);
  }
  // Where the iterations ended before the residual was small, their rest is allowed for: no more than it can be.
  const double root_nodes = std::sqrt(sums[3]);
  const double rest = std::sqrt(sums[1]) / smallest_eigenvalue(nodes) / root_nodes;
  const double deviation = std::sqrt(sums[2]) / root_nodes;
  const double allowed = Exact::tolerance(nodes) + rest;
  return deviation <= allowed ? std::string()
                              : fmt::format(
                                    "after {} iterations the solution is {:.3e} from the exact one (root mean "
                                    "square), and {:.3e} is the most",
                                    iterations_, deviation, allowed);
}

double vectors_of(Reductions reductions) noexcept {
  constexpr double of_the_matrix = 2;  // right-hand side, surface
  constexpr double exact = 1;
  return of_the_matrix + exact + (reductions.pipelined ? 7 : 4);
}

}  // namespace workloads::minife
