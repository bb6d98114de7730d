// SPDX-License-Identifier: BSD-3-Clause
// What the pencil FFT holds its own result against: a serial transform; and how it cuts. The transposes and transforms
// of several ranks are held against that in test_applications.py.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "pencil_fft/problem.h"

namespace workloads::pencil_fft {
namespace {

constexpr Field odd{.points = {7, 6, 5}, .real = false};
constexpr Field odd_and_real{.points = {7, 6, 5}, .real = true};

TEST(Grid, EachRankHasAPencilOfEveryKind) {
  EXPECT_TRUE(fits({.row_ranks = 6, .column_ranks = 5}, odd));
  EXPECT_FALSE(fits({.row_ranks = 7, .column_ranks = 1}, odd));  // 6 y
  EXPECT_FALSE(fits({.row_ranks = 1, .column_ranks = 6}, odd));  // 5 z
  EXPECT_TRUE(fits({.row_ranks = 4, .column_ranks = 1}, odd_and_real));
  EXPECT_FALSE(fits({.row_ranks = 5, .column_ranks = 1}, odd_and_real));  // 7 reals have 4 waves
}

TEST(Grid, IsNearToASquare) {
  EXPECT_EQ(nearest_to_square(4, odd)->row_ranks, 2);
  EXPECT_EQ(nearest_to_square(2, odd)->row_ranks, 1);
  EXPECT_EQ(nearest_to_square(6, odd)->row_ranks, 2);
  EXPECT_EQ(nearest_to_square(120, {.points = {64, 64, 64}, .real = false})->row_ranks, 10);
  const Field flat{.points = {64, 64, 1}, .real = false};
  EXPECT_EQ(nearest_to_square(6, flat)->row_ranks, 6);
  EXPECT_FALSE(nearest_to_square(7, odd));
}

/// By the definition, of one wave.
Complex plain_transform(const Field& field, int kx, int ky, int kz) {
  const auto [nx, ny, nz] = field.points;
  const RandomField numbers(field);
  std::vector<Complex> row(static_cast<std::size_t>(nx) + 1);
  Complex sum = 0;
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      numbers.row(y, z, row.data());
      for (int x = 0; x < nx; ++x) {
        const double turns = (1.0 * kx * x / nx) + (1.0 * ky * y / ny) + (1.0 * kz * z / nz);
        const Complex value =
            field.real ? reinterpret_cast<const double*>(row.data())[x] : row[static_cast<std::size_t>(x)];
        sum += value * std::polar(1.0, -2 * std::numbers::pi * turns);
      }
    }
  }
  return sum;
}

TEST(SerialSpectrum, IsTheDefinitions) {
  for (const Field& field : {odd, odd_and_real}) {
    for (int rank = 0; rank < 6; ++rank) {
      const Pencils p(field, {.row_ranks = 2, .column_ranks = 3}, rank);
      const auto spectrum = serial_spectrum(p);
      auto next = spectrum.begin();
      for (int z = 0; z < 5; ++z) {
        for (int y = p.y_along_z.begin; y < p.y_along_z.end; ++y) {
          for (int x = p.x.begin; x < p.x.end; ++x) {
            EXPECT_NEAR(std::abs(*next++ - plain_transform(field, x, y, z)), 0, 1e-12);
          }
        }
      }
    }
  }
}

TEST(RandomField, IsAroundZeroAndOfItsSize) {
  for (const bool real : {false, true}) {
    const Field field{.points = {64, 16, 16}, .real = real};
    const RandomField numbers(field);
    double squares = 0;
    double sum = 0;
    std::vector<Complex> row(64);
    for (int n = 0; n < 256; ++n) {
      numbers.row(n % 16, n / 16, row.data());
      for (int i = 0; i < (real ? 64 : 128); ++i) {
        const double value = reinterpret_cast<const double*>(row.data())[i];
        squares += value * value;
        sum += value;
      }
    }
    EXPECT_NEAR(std::sqrt(squares / field.total()), numbers.size(), 0.01);
    EXPECT_NEAR(sum / field.total(), 0, 0.01);
  }
}

}  // namespace
}  // namespace workloads::pencil_fft
