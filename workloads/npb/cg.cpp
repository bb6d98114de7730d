// SPDX-License-Identifier: BSD-3-Clause
// NPB CG: the inverse power method on a matrix that is cut into blocks. Overlapped, pieces of the row sums travel
// beside the computation of the next ones.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "common/kernel.h"
#include "common/mpi_process.h"
#include "npb/cg_kernel.h"
#include "npb/npb.h"

namespace workloads::npb {

// CG's matrix times a vector on all ranks, and the sums over a row of blocks: where CG communicates.

/// Collective. Used from one thread.
class CgProduct {
 public:
  /// Both are kept by the caller. With one piece messages are sent as the benchmark is published: receive posted,
  /// blocking send, wait. With more, each piece of the row sums is sent when it is computed, beside the next one's
  /// computation.
  CgProduct(const SparseBlock& matrix, const CgGrid& grid, int rank, int pieces);

  /// y = A x; this rank's parts of both.
  void multiply(std::span<const double> x, std::span<double> y, Phases& phases);
  /// Adds `values` up over the row of blocks: over each part of a vector once.
  void add_up(std::span<double> values, Phases& phases) const;

 private:
  struct Piece {
    Span kept;
    Span given;
    int first_tag;
    std::array<MPI_Request, 2> requests;
  };
  void compute(Span rows, std::span<const double> x);
  void compute_then_send(std::span<const double> x, Phases& phases);
  void compute_and_send(std::span<const double> x, Phases& phases);
  /// What the partner of this step is given of a piece.
  [[nodiscard]] static Span sent(const Piece& piece, std::size_t step) noexcept;
  void start_receive(Piece& piece, std::size_t step);
  void start_send(Piece& piece, std::size_t step);
  void finish(Piece& piece, std::size_t step, Phases& phases);
  void add_arrived(Span rows);
  void transpose(std::span<double> y, Phases& phases) const;

  const SparseBlock& matrix_;
  const CgGrid& grid_;
  int rank_;
  std::vector<Piece> pieces_;
  std::vector<double> sums_;      ///< of the block's rows
  std::vector<double> arriving_;  ///< others' sums of the rows that are kept, laid out as sums_
};

namespace {

constexpr int transpose_tag = 0;

Span piece_of(Span span, int pieces, int index) {
  const Span piece = block_of(span.size(), pieces, index);
  return {.begin = span.begin + piece.begin, .end = span.begin + piece.end};
}

/// As the benchmark is published.
void exchange(const double* out, int sent, double* in, int received, int partner) {
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Irecv(in, received, MPI_DOUBLE, partner, transpose_tag, MPI_COMM_WORLD, &request));
  require(MPI_Send(out, sent, MPI_DOUBLE, partner, transpose_tag, MPI_COMM_WORLD));
  require(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

}  // namespace

CgProduct::CgProduct(const SparseBlock& matrix, const CgGrid& grid, int rank, int pieces)
    : matrix_(matrix),
      grid_(grid),
      rank_(rank),
      sums_(static_cast<std::size_t>(grid.rows().size())),
      arriving_(sums_.size()) {
  const auto steps = static_cast<int>(grid.partners().size());
  for (int index = 0; index < pieces; ++index) {
    pieces_.push_back({.kept = piece_of(grid.kept(), pieces, index),
                       .given = piece_of(grid.given(), pieces, index),
                       .first_tag = transpose_tag + 1 + (index * steps),
                       .requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}});
  }
}

void CgProduct::multiply(std::span<const double> x, std::span<double> y, Phases& phases) {
  if (pieces_.size() == 1) {
    compute_then_send(x, phases);
  } else {
    compute_and_send(x, phases);
  }
  transpose(y, phases);
}

void CgProduct::compute(Span rows, std::span<const double> x) { npb::multiply(matrix_, rows, x.data(), sums_.data()); }

void CgProduct::compute_then_send(std::span<const double> x, Phases& phases) {
  compute({.begin = 0, .end = grid_.rows().size()}, x);
  const auto& whole = pieces_.front();
  for (std::size_t step = 0; step < grid_.partners().size(); ++step) {
    const Span out = sent(whole, step);
    phases.communicate([&] {
      exchange(sums_.data() + out.begin, out.size(), arriving_.data() + whole.kept.begin, whole.kept.size(),
               grid_.partners()[step]);
    });
    add_arrived(whole.kept);
  }
}

void CgProduct::compute_and_send(std::span<const double> x, Phases& phases) {
  const std::size_t steps = grid_.partners().size();
  if (steps > 0) {
    phases.communicate([&] { std::ranges::for_each(pieces_, [&](Piece& piece) { start_receive(piece, 0); }); });
  }
  for (auto& piece : pieces_) {
    compute(sent(piece, 0), x);
    if (steps > 0) {
      phases.communicate([&] { start_send(piece, 0); });
    }
  }
  for (const auto& piece : pieces_) {
    if (piece.given.size() > 0) {
      compute(piece.kept, x);
    }
  }
  // a piece's next step begins when its last one has ended, beside the other pieces' steps
  for (std::size_t turn = 0; turn < pieces_.size() + steps; ++turn) {
    for (std::size_t step = 0; step < steps && step <= turn; ++step) {
      if (turn - step < pieces_.size()) {
        finish(pieces_[turn - step], step, phases);
      }
    }
  }
}

Span CgProduct::sent(const Piece& piece, std::size_t step) noexcept {
  return step == 0 && piece.given.size() > 0 ? piece.given : piece.kept;
}

void CgProduct::start_receive(Piece& piece, std::size_t step) {
  require(MPI_Irecv(arriving_.data() + piece.kept.begin, piece.kept.size(), MPI_DOUBLE, grid_.partners()[step],
                    piece.first_tag + static_cast<int>(step), MPI_COMM_WORLD, piece.requests.data()));
}

void CgProduct::start_send(Piece& piece, std::size_t step) {
  const Span out = sent(piece, step);
  require(MPI_Isend(sums_.data() + out.begin, out.size(), MPI_DOUBLE, grid_.partners()[step],
                    piece.first_tag + static_cast<int>(step), MPI_COMM_WORLD, &piece.requests[1]));
}

void CgProduct::finish(Piece& piece, std::size_t step, Phases& phases) {
  phases.communicate([&] {
    require(MPI_Waitall(static_cast<int>(piece.requests.size()), piece.requests.data(), MPI_STATUSES_IGNORE));
  });
  add_arrived(piece.kept);
  if (step + 1 < grid_.partners().size()) {
    phases.communicate([&] {
      start_receive(piece, step + 1);
      start_send(piece, step + 1);
    });
  }
}

void CgProduct::add_arrived(Span rows) {
  const auto first = static_cast<std::size_t>(rows.begin);
  const auto count = static_cast<std::size_t>(rows.size());
  add(1, std::span(arriving_).subspan(first, count), std::span(sums_).subspan(first, count));
}

void CgProduct::transpose(std::span<double> y, Phases& phases) const {
  const Span kept = grid_.kept();
  if (grid_.transposed() == rank_) {
    std::copy_n(sums_.begin() + kept.begin, kept.size(), y.begin());
    return;
  }
  phases.communicate([&] {
    exchange(sums_.data() + kept.begin, kept.size(), y.data(), static_cast<int>(y.size()), grid_.transposed());
  });
}

void CgProduct::add_up(std::span<double> values, Phases& phases) const {
  constexpr std::size_t most = 2;
  std::array<double, most> others{};
  const auto count = static_cast<int>(values.size());
  for (const int partner : grid_.partners()) {
    phases.communicate([&] { exchange(values.data(), count, others.data(), count, partner); });
    std::ranges::transform(values, others, values.begin(), std::plus<>());
  }
}

}  // namespace workloads::npb

// NPB CG: the largest eigenvalue of a sparse matrix by the inverse power method, each step of which solves by conjugate
// gradients.

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

}  // namespace
}  // namespace workloads::npb::cg

const workloads::Benchmark& workloads::cg_benchmark() {
  static const Benchmark benchmark{
      .name = "cg",
      .question = "NPB CG: how long do short vectors take, sent again and again, and a sparse matrix's product?",
      .parameters = npb::cg::parameters(),
      .quantities = kernel_quantities(),
      .check = npb::cg::check,
      .prepare = make_kernel<npb::cg::Cg>,
  };
  return benchmark;
}
