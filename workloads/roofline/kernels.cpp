// SPDX-License-Identifier: BSD-3-Clause
#include "roofline/kernels.h"

#include <array>
#include <cmath>

#include "common/vectorised.h"

namespace workloads::roofline {
namespace {

// Enough vectors to hide an instruction's latency behind the others, few enough for the registers.
constexpr std::size_t vectors = 8;
constexpr std::size_t vector_bytes = 64;

template <class Number>
struct Wide {
  using Vector [[gnu::vector_size(vector_bytes)]] = Number;
};

/// `step` on each vector, `rounds` times; the sum of all lanes.
template <class Number, class Step>
[[gnu::always_inline]] inline double repeat(std::uint64_t rounds, Step step) noexcept {
  using Vector = Wide<Number>::Vector;
  std::array<Vector, vectors> all;
  for (std::size_t n = 0; n < vectors; ++n) {
    all[n] = Vector{} + static_cast<Number>(n + 3);
  }
  for (std::uint64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 8
    for (std::size_t n = 0; n < vectors; ++n) {
      step(all[n]);
    }
  }
  double sum = 0;
  for (const auto& vector : all) {
    for (std::size_t lane = 0; lane < vector_bytes / sizeof(Number); ++lane) {
      sum += static_cast<double>(vector[lane]);
    }
  }
  return sum;
}

WORKLOADS_VECTORISED double fma_single(std::uint64_t rounds) noexcept {
  return repeat<float>(rounds, [](auto& x) { x = (x * 0.999F) + 0.001F; });
}

WORKLOADS_VECTORISED double fma_double(std::uint64_t rounds) noexcept {
  return repeat<double>(rounds, [](auto& x) { x = (x * 0.999) + 0.001; });
}

WORKLOADS_VECTORISED double divide(std::uint64_t rounds) noexcept {
  return repeat<double>(rounds, [](auto& x) { x = 2.5 / x; });
}

WORKLOADS_VECTORISED double square_root(std::uint64_t rounds) noexcept {
  return repeat<double>(rounds, [](auto& x) {
    for (std::size_t lane = 0; lane < vector_bytes / sizeof(double); ++lane) {
      x[lane] = std::sqrt(x[lane]);
    }
  });
}

WORKLOADS_VECTORISED double multiply_integer(std::uint64_t rounds) noexcept {
  return repeat<std::uint64_t>(rounds, [](auto& x) { x *= 6364136223846793005U; });
}

WORKLOADS_VECTORISED void triad_row(float* __restrict a, const float* __restrict b, const float* __restrict c,
                                    float scalar, std::size_t length) noexcept {
  for (std::size_t n = 0; n < length; ++n) {
    a[n] = b[n] + (scalar * c[n]);
  }
}

}  // namespace

void triad(std::span<float> a, std::span<const float> b, std::span<const float> c, float scalar) noexcept {
  triad_row(a.data(), b.data(), c.data(), scalar, a.size());
}

std::span<const Operation> operations() noexcept {
  constexpr std::uint64_t singles = vectors * vector_bytes / sizeof(float);
  constexpr std::uint64_t doubles = vectors * vector_bytes / sizeof(double);
  static constexpr std::array<Operation, 5> table{{
      {"fma-single", "multiply and add, single precision", 2, singles, fma_single},
      {"fma-double", "multiply and add, double precision", 2, doubles, fma_double},
      {"divide", "divide, double precision", 1, doubles, divide},
      {"sqrt", "square root, double precision", 1, doubles, square_root},
      {"multiply-integer", "multiply 64-bit integers", 0, doubles, multiply_integer},
  }};
  return table;
}

}  // namespace workloads::roofline
