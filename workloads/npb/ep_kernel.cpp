// SPDX-License-Identifier: BSD-3-Clause
#include "npb/ep_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/vectorised.h"

namespace workloads::npb {
namespace {

// A chunk stays in the first-level cache. The numbers of a chunk are made in lanes: lane l takes every lanes-th number,
// which is the sequence of another multiplier, so that a vector unit can make several at a time.
constexpr std::size_t chunk_pairs = 512;
constexpr std::size_t chunk_numbers = 2 * chunk_pairs;
constexpr std::size_t lanes = 32;

using Lanes = std::array<std::uint64_t, lanes>;

/// Numbers 2 i and 2 i + 1 of the sequence are pair i: x and y go to halves of `uniform`. State below 2^46 put into the
/// mantissa of 2^52 is an exact conversion that every vector unit has.
WORKLOADS_VECTORISED void fill_uniform(Lanes& state, std::uint64_t leap, double* __restrict uniform) {
  constexpr std::uint64_t two_52 = 0x4330000000000000U;
  constexpr double scale = 2.0 / 70368744177664.0;  // 2^46
  double* __restrict x = uniform;
  double* __restrict y = uniform + chunk_pairs;
  for (std::size_t begin = 0; begin < chunk_numbers; begin += lanes) {
    for (std::size_t lane = 0; lane < lanes / 2; ++lane) {
      const double even = std::bit_cast<double>(state[lane] | two_52) - 4503599627370496.0;
      const double odd = std::bit_cast<double>(state[lane + (lanes / 2)] | two_52) - 4503599627370496.0;
      x[(begin / 2) + lane] = (even * scale) - 1;
      y[(begin / 2) + lane] = (odd * scale) - 1;
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      state[lane] = (state[lane] * leap) & modulus_mask;
    }
  }
}

/// The pairs inside the unit circle, packed. Returns how many.
std::size_t accept(const double* __restrict uniform, double* __restrict radius, double* __restrict x,
                   double* __restrict y) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < chunk_pairs; ++i) {
    const double a = uniform[i];
    const double b = uniform[i + chunk_pairs];
    const double t = (a * a) + (b * b);
    radius[count] = t;
    x[count] = a;
    y[count] = b;
    count += t <= 1 ? 1 : 0;  // no branch: a fifth of the pairs is refused, unforeseeably
  }
  return count;
}

/// Makes deviates of them, in place; returns their sums without counts.
WORKLOADS_VECTORISED void transform(std::size_t count, const double* __restrict radius, double* __restrict x,
                                    double* __restrict y, double* __restrict sums) {
  double sum_x = 0;
  double sum_y = 0;
#pragma omp simd reduction(+ : sum_x, sum_y)
  for (std::size_t i = 0; i < count; ++i) {
    const double t = radius[i];
    const double factor = std::sqrt(-2 * std::log(t) / t);
    x[i] *= factor;
    y[i] *= factor;
    sum_x += x[i];
    sum_y += y[i];
  }
  sums[0] += sum_x;
  sums[1] += sum_y;
}

}  // namespace

EpSums& EpSums::operator+=(const EpSums& other) noexcept {
  x += other.x;
  y += other.y;
  for (std::size_t l = 0; l < counts.size(); ++l) {
    counts[l] += other.counts[l];
  }
  return *this;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) noexcept {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1U) {
    result = (exponent & 1U) != 0 ? (result * base) & modulus_mask : result;
    base = (base * base) & modulus_mask;
  }
  return result;
}

EpKernel::EpKernel() : uniform_(chunk_numbers), radius_(chunk_pairs), x_(chunk_pairs), y_(chunk_pairs) {}

EpSums EpKernel::run(std::uint64_t first, std::uint64_t last) {
  EpSums sums;
  Lanes state{};
  const std::uint64_t leap = power(multiplier, lanes);
  for (std::uint64_t batch = first; batch < last; ++batch) {
    std::uint64_t number = (seed * power(multiplier, (2 * pairs_a_batch * batch) + 1)) & modulus_mask;
    for (std::size_t n = 0; n < lanes; ++n) {  // lanes in the order x, x, ..., y, y, ...
      state[(n / 2) + (n % 2 * lanes / 2)] = number;
      number = (number * multiplier) & modulus_mask;
    }
    for (std::uint64_t done = 0; done < pairs_a_batch; done += chunk_pairs) {
      fill_uniform(state, leap, uniform_.data());
      sums += tally();
    }
  }
  return sums;
}

EpSums EpKernel::tally() {
  EpSums sums;
  const std::size_t count = accept(uniform_.data(), radius_.data(), x_.data(), y_.data());
  std::array<double, 2> both{};
  transform(count, radius_.data(), x_.data(), y_.data(), both.data());
  std::array<std::uint32_t, annuli> counts{};
  for (std::size_t i = 0; i < count; ++i) {
    ++counts[static_cast<std::size_t>(std::max(std::abs(x_[i]), std::abs(y_[i])))];
  }
  sums.x = both[0];
  sums.y = both[1];
  std::ranges::copy(counts, sums.counts.begin());
  return sums;
}

const std::array<EpClass, 5>& ep_classes() noexcept {
  static constexpr std::array<EpClass, 5> table{{
      {.name = "S", .log2_pairs = 24, .x = -3.247834652034740e3, .y = -6.958407078382297e3},
      {.name = "W", .log2_pairs = 25, .x = -2.863319731645753e3, .y = -6.320053679109499e3},
      {.name = "A", .log2_pairs = 28, .x = -4.295875165629892e3, .y = -1.580732573678431e4},
      {.name = "B", .log2_pairs = 30, .x = 4.033815542441498e4, .y = -2.660669192809235e4},
      {.name = "C", .log2_pairs = 32, .x = 4.764367927995374e4, .y = -8.084072988043731e4},
  }};
  return table;
}

bool is_right(const EpClass& problem, const EpSums& sums) noexcept {
  constexpr double tolerance = 1e-8;
  const auto near = [](double value, double right) { return std::abs((value - right) / right) <= tolerance; };
  return near(sums.x, problem.x) && near(sums.y, problem.y);
}

}  // namespace workloads::npb
