// SPDX-License-Identifier: BSD-3-Clause
#include "npb/ft_kernel.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/vectorised.h"
#include "npb/generator.h"

namespace workloads::npb {
namespace {

fft::Kind kind(bool forward) { return forward ? fft::Kind::forward : fft::Kind::backward; }

/// Of the wave that index `i` of `n` stands for.
double square_of_wave(int i, int n) {
  const double wave = i < n / 2 ? i : i - n;
  return wave * wave;
}

/// Calls action(first point of the message's row, first point of the planes' row) for each run of rows of one rank and
/// one plane: `rows` rows that are contiguous in both.
template <class Action>
void for_each_run(const FtShare& share, int chunk, Action action) {
  const std::size_t run = std::size_t{1} * share.rows * share.nx;
  std::size_t message = 0;
  for (int rank = 0; rank < share.ranks; ++rank) {
    const int y = ((rank * share.chunks) + chunk) * share.rows;
    for (int z = 0; z < share.planes; ++z, message += run) {
      action(message, ((std::size_t{1} * z * share.ny) + y) * share.nx, run);
    }
  }
}

}  // namespace

bool is_right(const FtClass& problem, std::size_t iteration, Complex sum) noexcept {
  constexpr double tolerance = 1e-12;
  const Complex right = problem.sums[iteration];
  return std::abs(sum - right) <= tolerance * std::abs(right);
}

FtShare::FtShare(const FtClass& problem, int my_rank, int all_ranks, int most_chunks)
    : rank(my_rank),
      ranks(all_ranks),
      chunks(std::min(most_chunks, problem.points[1] / all_ranks)),
      nx(problem.points[0]),
      ny(problem.points[1]),
      nz(problem.points[2]),
      planes(nz / ranks),
      rows(ny / ranks / chunks) {}

void ft_start(const FtShare& share, std::span<Complex> planes) {
  Generator numbers(2 * share.points() * static_cast<std::size_t>(share.rank));
  for (Complex& value : planes) {
    const double real = numbers.next();
    value = {real, numbers.next()};
  }
}

void ft_decay(const FtShare& share, std::span<double> decay) {
  constexpr double alpha = 1e-6;
  constexpr double factor = -4 * alpha * std::numbers::pi * std::numbers::pi;
  auto next = decay.begin();
  for (int chunk = 0; chunk < share.chunks; ++chunk) {
    for (int z = 0; z < share.nz; ++z) {
      for (int row = 0; row < share.rows; ++row) {
        const int y = (((share.rank * share.chunks) + chunk) * share.rows) + row;
        const double across = square_of_wave(y, share.ny) + square_of_wave(z, share.nz);
        for (int x = 0; x < share.nx; ++x) {
          *next++ = std::exp(factor * (square_of_wave(x, share.nx) + across));
        }
      }
    }
  }
}

WORKLOADS_VECTORISED void ft_evolve(std::span<const double> decay, std::span<Complex> columns,
                                    std::span<Complex> copy) {
  for (std::size_t i = 0; i < decay.size(); ++i) {
    const Complex value = columns[i] * decay[i];
    columns[i] = value;
    copy[i] = value;
  }
}

Complex ft_sum(const FtShare& share, std::span<const Complex> planes) {
  constexpr int samples = 1024;
  Complex sum = 0;
  for (int j = 1; j <= samples; ++j) {
    const int z = (5 * j % share.nz) - (share.rank * share.planes);
    if (z >= 0 && z < share.planes) {
      sum += planes[(((std::size_t{1} * z * share.ny) + (3 * j % share.ny)) * share.nx) + (j % share.nx)];
    }
  }
  return sum / (1.0 * share.nx * share.ny * share.nz);
}

void ft_pack(const FtShare& share, int chunk, std::span<const Complex> planes, std::span<Complex> message) {
  for_each_run(share, chunk, [&](std::size_t to, std::size_t from, std::size_t run) {
    std::ranges::copy(planes.subspan(from, run), message.subspan(to, run).begin());
  });
}

void ft_unpack(const FtShare& share, int chunk, std::span<const Complex> message, std::span<Complex> planes) {
  for_each_run(share, chunk, [&](std::size_t from, std::size_t to, std::size_t run) {
    std::ranges::copy(message.subspan(from, run), planes.subspan(to, run).begin());
  });
}

FtTransforms::FtTransforms(const FtShare& share, bool forward, std::span<Complex> planes, std::span<Complex> columns)
    : share_(share),
      x_(kind(forward), {.length = share.nx, .count = share.rows, .stride = 1, .distance = share.nx}, planes.data()),
      y_(kind(forward), {.length = share.ny, .count = share.nx, .stride = share.nx, .distance = 1}, planes.data()),
      z_(kind(forward), {.length = share.nz, .count = share.nx, .stride = share.rows * share.nx, .distance = 1},
         columns.data()) {}

void FtTransforms::along_x(int chunk, std::span<Complex> planes) const {
  for_each_run(share_, chunk,
               [&](std::size_t /*message*/, std::size_t first, std::size_t /*run*/) { x_(planes.data() + first); });
}

void FtTransforms::along_y(std::span<Complex> planes) const {
  const std::size_t plane = std::size_t{1} * share_.nx * share_.ny;
  for (std::size_t first = 0; first < planes.size(); first += plane) {
    y_(planes.data() + first);
  }
}

void FtTransforms::along_z(int chunk, std::span<Complex> columns) const {
  for (int row = 0; row < share_.rows; ++row) {
    z_(columns.data() + (chunk * share_.chunk()) + (std::size_t{1} * row * share_.nx));
  }
}

}  // namespace workloads::npb
