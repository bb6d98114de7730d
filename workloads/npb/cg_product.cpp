// SPDX-License-Identifier: BSD-3-Clause
#include "npb/cg_product.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <functional>

#include "common/mpi_process.h"

namespace workloads::npb {
namespace {

constexpr int transpose_tag = 0;

Span piece_of(Span span, int pieces, int index) {
  const Span piece = block_of(span.size(), pieces, index);
  return {.begin = span.begin + piece.begin, .end = span.begin + piece.end};
}

/// As the benchmark is published.
void exchange(const double* out, int sent, double* in, int received, int partner) {
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Irecv(in, received, MPI_DOUBLE, partner, transpose_tag, MPI_COMM_WORLD, &request), "MPI_Irecv");
  require(MPI_Send(out, sent, MPI_DOUBLE, partner, transpose_tag, MPI_COMM_WORLD), "MPI_Send");
  require(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
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
                    piece.first_tag + static_cast<int>(step), MPI_COMM_WORLD, piece.requests.data()),
          "MPI_Irecv");
}

void CgProduct::start_send(Piece& piece, std::size_t step) {
  const Span out = sent(piece, step);
  require(MPI_Isend(sums_.data() + out.begin, out.size(), MPI_DOUBLE, grid_.partners()[step],
                    piece.first_tag + static_cast<int>(step), MPI_COMM_WORLD, &piece.requests[1]),
          "MPI_Isend");
}

void CgProduct::finish(Piece& piece, std::size_t step, Phases& phases) {
  phases.communicate([&] {
    require(MPI_Waitall(static_cast<int>(piece.requests.size()), piece.requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
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
