// SPDX-License-Identifier: BSD-3-Clause
#include "npb/ep_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/vectorised.h"

namespace workloads::npb {
namespace {

// A chunk stays in the first-level cache. The numbers of a chunk are made in lanes: lane l takes every lanes-th number,
// which is the sequence of another multiplier, so that a vector unit can make several at a time.
constexpr std::size_t chunk_pairs = 512;
constexpr std::size_t chunk_numbers = 2 * chunk_pairs;
constexpr std::size_t width = 8;    // of a vector
constexpr std::size_t vectors = 8;  // enough to hide a multiplication's latency behind the others
constexpr std::size_t lanes = vectors * width;

using Words [[gnu::vector_size(width * sizeof(std::uint64_t))]] = std::uint64_t;
using Reals [[gnu::vector_size(width * sizeof(double))]] = double;
using Lanes = std::array<Words, vectors>;

/// Numbers 2 i and 2 i + 1 of the sequence are pair i: x and y go to halves of `uniform`; the first half of the vectors
/// are x. State below 2^46 put into the mantissa of 2^52 is an exact conversion that every vector unit has.
WORKLOADS_VECTORISED void fill_uniform(Lanes& state, std::uint64_t leap, double* __restrict uniform) {
  constexpr std::uint64_t two_52 = 0x4330000000000000U;
  constexpr double scale = 2.0 / 70368744177664.0;  // 2^46
  Lanes now = state;
  for (std::size_t begin = 0; begin < chunk_pairs; begin += lanes / 2) {
#pragma GCC unroll 8
    for (std::size_t n = 0; n < vectors; ++n) {
      const Words bits = now[n] | two_52;
      Reals value;
      std::memcpy(&value, &bits, sizeof value);
      value = ((value - 4503599627370496.0) * scale) - 1;
      const std::size_t half = n < vectors / 2 ? 0 : chunk_pairs;
      std::memcpy(uniform + half + begin + (n % (vectors / 2) * width), &value, sizeof value);
      now[n] = (now[n] * leap) & modulus_mask;
    }
  }
  state = now;
}

/// Makes deviates of the pairs inside the unit circle and adds them up; `largest` is max(|X|, |Y|) of a pair, -1 of one
/// that is refused. A refused pair's deviates are 0: to compute a fifth too many costs less than to sort them out.
WORKLOADS_VECTORISED void transform(const double* __restrict uniform, double* __restrict largest,
                                    double* __restrict sums) {
  double sum_x = 0;
  double sum_y = 0;
#pragma omp simd reduction(+ : sum_x, sum_y)
  for (std::size_t i = 0; i < chunk_pairs; ++i) {
    const double x = uniform[i];
    const double y = uniform[i + chunk_pairs];
    const double t = (x * x) + (y * y);
    const double inside = t <= 1 ? t : 1;  // whose logarithm is 0
    const double factor = std::sqrt(-2 * std::log(inside) / inside);
    sum_x += x * factor;
    sum_y += y * factor;
    largest[i] = t <= 1 ? std::max(std::abs(x), std::abs(y)) * factor : -1;
  }
  sums[0] = sum_x;
  sums[1] = sum_y;
}

/// How many of `largest` are `least` or more.
WORKLOADS_VECTORISED double count_from(const double* __restrict largest, double least) {
  double count = 0;
#pragma omp simd reduction(+ : count)
  for (std::size_t i = 0; i < chunk_pairs; ++i) {
    count += largest[i] >= least ? 1.0 : 0.0;
  }
  return count;
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

EpKernel::EpKernel() : uniform_(chunk_numbers), largest_(chunk_pairs) {}

EpSums EpKernel::run(std::uint64_t first, std::uint64_t last) {
  EpSums sums;
  Lanes state{};
  const std::uint64_t leap = power(multiplier, lanes);
  for (std::uint64_t batch = first; batch < last; ++batch) {
    std::uint64_t number = (seed * power(multiplier, (2 * pairs_a_batch * batch) + 1)) & modulus_mask;
    for (std::size_t n = 0; n < lanes; ++n) {  // lanes in the order x, x, ..., y, y, ...
      const std::size_t lane = (n / 2) + (n % 2 * lanes / 2);
      state[lane / width][lane % width] = number;
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
  std::array<double, 2> both{};
  transform(uniform_.data(), largest_.data(), both.data());
  sums.x = both[0];
  sums.y = both[1];
  double from = count_from(largest_.data(), 0);
  for (std::size_t l = 0; l < annuli && from > 0; ++l) {
    const double beyond = count_from(largest_.data(), static_cast<double>(l + 1));
    sums.counts[l] = from - beyond;
    from = beyond;
  }
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
