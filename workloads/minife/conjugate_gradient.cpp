// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/mpi_process.h"
#include "minife/method.h"
#include "minife/solver.h"

namespace workloads::minife {
namespace {

class HaloProduct final : public Product, private ProductSteps {
 public:
  HaloProduct(const Block& block, bool overlapped)
      : matrix_(block.matrix),
        halo_(block.rank, block.neighbours, block.matrix.layout(), 1),
        overlapped_(overlapped),
        inner_(block.without_neighbours),
        outer_(shell(block.matrix.layout().inside(0), inner_)) {}

  void multiply(Vector& in, Vector& out, Calls& calls) override {
    in_ = in.data();
    out_ = out.data();
    calls_ = &calls;
    multiply_by(*this, overlapped_);
  }

 private:
  void post_receives() override {
    calls_->make(Call::irecv, [&] { halo_.post_receives(); });
  }
  void pack() override { halo_.pack(std::array{in_}); }
  void send() override {
    calls_->make(Call::send, [&] { halo_.send(); });
  }
  void start_sends() override {
    calls_->make(Call::send, [&] { halo_.start_sends(); });
  }
  void wait() override {
    calls_->make(Call::wait, [&] { halo_.wait(); });
  }
  void unpack() override { halo_.unpack(std::array{in_}); }
  void multiply_rows(Rows rows) override {
    if (rows == Rows::outer) {
      for (const Box& box : outer_) {
        matrix_.multiply(box, in_, out_);
      }
    } else {
      matrix_.multiply(rows == Rows::all ? matrix_.layout().inside(0) : inner_, in_, out_);
    }
  }

  const Matrix& matrix_;
  HaloExchange<double> halo_;
  bool overlapped_;
  Box inner_;
  std::vector<Box> outer_;
  double* in_ = nullptr;
  double* out_ = nullptr;
  Calls* calls_ = nullptr;
};

}  // namespace

std::unique_ptr<Product> blocking_product(const Block& block) { return std::make_unique<HaloProduct>(block, false); }

std::unique_ptr<Product> overlapped_product(const Block& block) { return std::make_unique<HaloProduct>(block, true); }

namespace {

constexpr double relative_gap = 1e-9;  // rounding leaves some 1e-13

/// Calls action(place) for each of the rank's own.
template <class Action>
void for_each_place(const Layout& layout, Action action) {
  for_each_row(layout, layout.inside(0), [&](std::size_t first, std::size_t length) {
    for (std::size_t place = first; place < first + length; ++place) {
      action(place);
    }
  });
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
  if (!reductions_.pipelined) {
    p_ = r_;
  }
}

void ConjugateGradient::solve(Calls& calls) {
  start();
  calls_ = &calls;
  const Method method(reductions_.pipelined);
  method.begin(*this);
  for (;;) {
    method.to_the_test(*this);
    if (iterations_ == 0) {
      first_square_ = gamma_ = sums_[0];
    }
    if (is_small(sums_[0]) || iterations_ == most_iterations_) {
      break;
    }
    method.behind_it(*this);
    ++iterations_;
    if (method.replaces(iterations_)) {
      Method::replace(*this);
    }
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

Vector& ConjugateGradient::vector(Name name) {
  const std::array all{&x_, &r_, &p_, &q_, &w_, &s_, &z_};
  return *all[static_cast<std::size_t>(name)];
}

void ConjugateGradient::multiply(Name in, Name out) { product_.multiply(vector(in), vector(out), *calls_); }

void ConjugateGradient::multiply_all(std::span<const Names> pairs) {
  double* mine = mine_.data();
  for (const auto& [a, b] : pairs) {
    *mine++ = dot(vector(a), vector(b));
  }
}

void ConjugateGradient::sum(std::span<const Names> pairs) {
  multiply_all(pairs);
  if (reductions_.barrier_first) {
    calls_->make(Call::barrier, [] { require(MPI_Barrier(MPI_COMM_WORLD)); });
  }
  calls_->make(Call::allreduce, [&] {
    require(
        MPI_Allreduce(mine_.data(), sums_.data(), static_cast<int>(pairs.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  });
}

void ConjugateGradient::start_sums(std::span<const Names> pairs) {
  multiply_all(pairs);
  calls_->make(Call::allreduce, [&] {
    require(MPI_Iallreduce(mine_.data(), sums_.data(), static_cast<int>(pairs.size()), MPI_DOUBLE, MPI_SUM,
                           MPI_COMM_WORLD, &sums_request_));
  });
}

void ConjugateGradient::finish_sums() {
  // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): start_sums() has begun it
  calls_->make(Call::allreduce_wait, [&] { require(MPI_Wait(&sums_request_, MPI_STATUS_IGNORE)); });
}

void ConjugateGradient::update(Update what) {
  switch (what) {
    case Update::advance:
      advance();
      break;
    case Update::turn:
      turn();
      break;
    case Update::pipeline:
      pipeline();
      break;
    case Update::replace:
      replace();
      break;
  }
}

void ConjugateGradient::advance() {
  alpha_ = gamma_ / sums_[0];
  for_each_place(matrix_.layout(), [&](std::size_t i) {
    x_[i] += alpha_ * p_[i];
    r_[i] -= alpha_ * q_[i];
  });
}

void ConjugateGradient::turn() {
  const double beta = sums_[0] / gamma_;
  gamma_ = sums_[0];
  for_each_place(matrix_.layout(), [&](std::size_t i) { p_[i] = r_[i] + (beta * p_[i]); });
}

void ConjugateGradient::pipeline() {
  const auto [gamma, delta] = sums_;
  const bool first = iterations_ == 0;
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
}

// A drift that is more than rounding is an error that the replacement would hide: it is kept for verify().
void ConjugateGradient::replace() {
  subtract_from_right_hand_side();
  for_each_place(matrix_.layout(), [&](std::size_t i) {
    gap_ += std::pow(q_[i] - r_[i], 2);
    r_[i] = q_[i];
  });
}

void ConjugateGradient::subtract_from_right_hand_side() {
  for_each_place(matrix_.layout(), [&](std::size_t i) { q_[i] = matrix_.right_hand_side()[i] - q_[i]; });
}

std::string ConjugateGradient::verify(const Triple& nodes, const Exact& exact) {
  Calls untimed(nullptr, 1);
  product_.multiply(x_, q_, untimed);
  subtract_from_right_hand_side();
  double gap = gap_;
  for_each_place(matrix_.layout(), [&](std::size_t i) { gap += std::pow(q_[i] - r_[i], 2); });
  const auto error = exact.compare(x_);
  std::array<double, 4> sums{gap, dot(q_, q_), error.squares, error.nodes};
  require(MPI_Allreduce(MPI_IN_PLACE, sums.data(), sums.size(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
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
  const double rest = std::sqrt(sums[1]) / eigenvalue(nodes, {1, 1, 1}) / root_nodes;
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
