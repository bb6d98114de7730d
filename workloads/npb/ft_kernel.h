// SPDX-License-Identifier: BSD-3-Clause
// The FT kernel of the NAS Parallel Benchmarks (Bailey et al., RNR-94-007, section 2.7) without its messages: a partial
// differential equation solved by three-dimensional Fourier transforms. Two layouts of a rank's points:
//
// planes: [z of this rank][y][x], the x contiguous;
// columns: [chunk][z][y of this rank and chunk][x], all z of some y, in chunks that are sent one by one.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "common/fft_plan.h"

namespace workloads::npb {

using fft::Complex;

/// A class: points along x, y, z, and the right sum of each iteration.
struct FtClass {
  std::string_view name;
  std::array<int, 3> points;
  std::span<const Complex> sums;

  [[nodiscard]] double total() const noexcept { return 1.0 * points[0] * points[1] * points[2]; }
};

/// S to D with the verification values of NPB 3.4.
const std::array<FtClass, 6>& ft_classes() noexcept;

/// A sum within 1e-12 of the iteration's right one, relatively; iterations from 0.
bool is_right(const FtClass& problem, std::size_t iteration, Complex sum) noexcept;

/// What of a class's points a rank has. All divide: they are powers of two.
struct FtShare {
  /// `most_chunks`: fewer where there are not as many y.
  FtShare(const FtClass& problem, int my_rank, int all_ranks, int most_chunks);

  int rank;
  int ranks;
  int chunks;
  int nx;
  int ny;
  int nz;
  int planes;  ///< z of this rank
  int rows;    ///< y of this rank and a chunk

  [[nodiscard]] std::size_t chunk() const noexcept { return std::size_t{1} * nz * rows * nx; }
  [[nodiscard]] std::size_t points() const noexcept { return chunk() * chunks; }
  /// Of a chunk, what one rank sends to another.
  [[nodiscard]] std::size_t message() const noexcept { return chunk() / ranks; }
};

/// Fills planes with the generator's numbers.
void ft_start(const FtShare& share, std::span<Complex> planes);
/// By how much each point of the transformed field, in columns, decays in an iteration.
void ft_decay(const FtShare& share, std::span<double> decay);
/// columns *= decay, and a copy of it.
void ft_evolve(std::span<const double> decay, std::span<Complex> columns, std::span<Complex> copy);
/// The rank's part of an iteration's sum, of the field in planes.
Complex ft_sum(const FtShare& share, std::span<const Complex> planes);

/// Rows of planes to what is sent of a chunk, [rank][z][y][x], and back.
void ft_pack(const FtShare& share, int chunk, std::span<const Complex> planes, std::span<Complex> message);
void ft_unpack(const FtShare& share, int chunk, std::span<const Complex> message, std::span<Complex> planes);

/// The transforms along each axis, by FFTW, not scaled. Made for one direction. Not for several threads at once.
class FtTransforms {
 public:
  /// Plans for arrays as `planes` and `columns`, which it overwrites.
  FtTransforms(const FtShare& share, bool forward, std::span<Complex> planes, std::span<Complex> columns);

  /// The rows of planes that a chunk has brought or will take.
  void along_x(int chunk, std::span<Complex> planes) const;
  void along_y(std::span<Complex> planes) const;
  void along_z(int chunk, std::span<Complex> columns) const;

 private:
  FtShare share_;
  fft::Plan x_;  ///< a chunk's rows of one plane and one rank
  fft::Plan y_;  ///< a plane
  fft::Plan z_;  ///< the columns of one y
};

}  // namespace workloads::npb
