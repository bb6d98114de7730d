// SPDX-License-Identifier: BSD-3-Clause
// Pencils, their transposes and transforms, all ranks in one process. Real ranks are in test_pencil_fft.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "pencil_fft/transforms.h"

namespace workloads::pencil_fft {
namespace {

constexpr Field odd{.points = {7, 6, 5}, .real = false};
constexpr Field odd_and_real{.points = {7, 6, 5}, .real = true};

struct Rank {
  Pencils pencils;
  std::vector<Complex> x, y, sent, arrived;
};

/// A number for each place, its own.
Complex label(int x, int y, int z) { return {x + (100.0 * y), 1.0 * z}; }

std::vector<Rank> ranks_of(const Field& field, const ProcessGrid& grid) {
  std::vector<Rank> ranks;
  for (int rank = 0; rank < grid.row_ranks * grid.column_ranks; ++rank) {
    const Pencils p(field, grid, rank);
    const std::vector<Complex> none(p.points());
    ranks.push_back({.pencils = p, .x = none, .y = none, .sent = none, .arrived = none});
    auto next = ranks.back().x.begin();
    for (int z = p.z.begin; z < p.z.end; ++z) {
      for (int y = p.y_along_x.begin; y < p.y_along_x.end; ++y) {
        for (int x = 0; x < field.width(); ++x) {
          *next++ = label(x, y, z);
        }
      }
    }
  }
  return ranks;
}

/// MPI_Alltoallv among ranks `first`, `first + stride`, ...
template <class Sending, class Receiving>
void exchange(std::vector<Rank>& ranks, int first, int stride, int count, Sending sending, Receiving receiving) {
  for (int from = 0; from < count; ++from) {
    const auto& source = ranks[static_cast<std::size_t>(first + (from * stride))];
    const Part out = sending(source.pencils);
    for (int to = 0; to < count; ++to) {
      auto& target = ranks[static_cast<std::size_t>(first + (to * stride))];
      const Part in = receiving(target.pencils);
      const auto t = static_cast<std::size_t>(to);
      const auto f = static_cast<std::size_t>(from);
      ASSERT_EQ(out.counts[t], in.counts[f]);
      std::copy_n(source.sent.begin() + static_cast<std::ptrdiff_t>(out.first) + out.begins[t], out.counts[t],
                  target.arrived.begin() + static_cast<std::ptrdiff_t>(in.first) + in.begins[f]);
    }
  }
}

void turn_rows(std::vector<Rank>& ranks, const ProcessGrid& grid, int chunks) {
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const auto planes = [&](const Pencils& p) { return block_of(p.z.size(), chunks, chunk); };
    for (auto& rank : ranks) {
      pack(rank.pencils, Side::x, planes(rank.pencils), rank.x.data(), rank.sent.data());
    }
    for (int row = 0; row < grid.column_ranks; ++row) {
      exchange(
          ranks, row * grid.row_ranks, 1, grid.row_ranks, [&](const Pencils& p) { return x_part(p, planes(p)); },
          [&](const Pencils& p) { return y_part_in_row(p, planes(p)); });
    }
    for (auto& rank : ranks) {
      unpack(rank.pencils, Side::y_in_row, planes(rank.pencils), rank.arrived.data(), rank.y.data());
    }
  }
}

void turn_columns(std::vector<Rank>& ranks, const ProcessGrid& grid, int chunks) {
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const auto columns = [&](const Pencils& p) { return block_of(p.x.size(), chunks, chunk); };
    for (auto& rank : ranks) {
      pack(rank.pencils, Side::y_in_column, columns(rank.pencils), rank.y.data(), rank.sent.data());
    }
    for (int column = 0; column < grid.row_ranks; ++column) {
      exchange(
          ranks, column, grid.row_ranks, grid.column_ranks,
          [&](const Pencils& p) { return y_part_in_column(p, columns(p)); },
          [&](const Pencils& p) { return z_part(p, columns(p)); });
    }
  }
}

struct Case {
  Field field;
  ProcessGrid grid;
  int chunks;
};

/// Sizes that nothing divides, and more chunks than a rank has planes.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Field& field : {odd, odd_and_real}) {
    for (const ProcessGrid grid : {ProcessGrid{2, 2}, ProcessGrid{3, 2}, ProcessGrid{2, 3}, ProcessGrid{4, 5}}) {
      for (const int chunks : {1, 2, 3, 8}) {
        all.push_back({.field = field, .grid = grid, .chunks = chunks});
      }
    }
  }
  return all;
}

TEST(Pencils, TurnFromXToYToZ) {
  for (const auto& [field, grid, chunks] : cases()) {
    auto ranks = ranks_of(field, grid);
    turn_rows(ranks, grid, chunks);
    for (const auto& rank : ranks) {
      const auto& p = rank.pencils;
      auto next = rank.y.begin();
      for (int z = p.z.begin; z < p.z.end; ++z) {
        for (int y = 0; y < field.points[1]; ++y) {
          for (int x = p.x.begin; x < p.x.end; ++x) {
            ASSERT_EQ(*next++, label(x, y, z));
          }
        }
      }
    }
    turn_columns(ranks, grid, chunks);
    for (const auto& rank : ranks) {
      const auto& p = rank.pencils;
      for (int z = 0; z < field.points[2]; ++z) {
        for (int y = 0; y < p.y_along_z.size(); ++y) {
          for (int x = 0; x < p.x.size(); ++x) {
            ASSERT_EQ(rank.arrived[place_along_z(p, chunks, x, y, z)], label(p.x.begin + x, p.y_along_z.begin + y, z));
          }
        }
      }
    }
  }
}

TEST(Pencils, UnpackingUndoesPacking) {
  for (const auto& [field, grid, chunks] : cases()) {
    for (const auto& rank : ranks_of(field, grid)) {
      const auto& p = rank.pencils;
      for (const Side side : {Side::x, Side::y_in_row, Side::y_in_column}) {
        const int parts = side == Side::y_in_column ? p.x.size() : p.z.size();
        const std::size_t points =
            std::size_t{1} * p.z.size() *
            (side == Side::x ? p.y_along_x.size() * field.width() : field.points[1] * p.x.size());
        std::vector<Complex> values(points);
        std::generate(values.begin(), values.end(), [n = 0.0]() mutable { return Complex(n += 1, 0); });
        std::vector<Complex> messages(points);
        std::vector<Complex> back(points);
        for (int chunk = 0; chunk < chunks; ++chunk) {
          pack(p, side, block_of(parts, chunks, chunk), values.data(), messages.data());
          unpack(p, side, block_of(parts, chunks, chunk), messages.data(), back.data());
        }
        ASSERT_EQ(back, values);
      }
    }
  }
}

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

TEST(Transforms, OfChunksAreThoseOfTheWhole) {
  for (const Field& field : {odd, odd_and_real}) {
    for (const int chunks : {1, 3, 9}) {
      const Pencils p(field, {}, 0);  // one rank: pencils of one kind are those of all
      std::vector<Complex> values(p.points());
      const Transforms transforms(p, chunks, values.data());
      const RandomField numbers(field);
      for (int row = 0; row < 30; ++row) {
        numbers.row(row % 6, row / 6, values.data() + (static_cast<std::ptrdiff_t>(row) * field.width()));
      }
      const Span planes{.begin = 0, .end = 5};
      for (int chunk = 0; chunk < chunks; ++chunk) {
        transforms.along_x(Direction::forward, block_of(5, chunks, chunk), values.data());
      }
      for (int chunk = 0; chunk < chunks; ++chunk) {
        transforms.along_y(Direction::forward, planes, block_of(field.width(), chunks, chunk), values.data());
        transforms.along_z(Direction::forward, block_of(field.width(), chunks, chunk), values.data());
      }
      const auto right = serial_spectrum(p);
      for (std::size_t n = 0; n < values.size(); ++n) {
        EXPECT_NEAR(std::abs(values[n] - right[n]), 0, 1e-13);
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
