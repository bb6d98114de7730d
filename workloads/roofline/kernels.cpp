// SPDX-License-Identifier: BSD-3-Clause
#include "roofline/kernels.h"

#include <array>
#include <cmath>

#include "common/vectorised.h"

namespace workloads::roofline {
namespace {

// Enough vectors to hide an instruction's latency behind the others, few enough for the registers.
constexpr std::size_t vectors = 8;

struct FmaSingle {
  using Number = float;
  [[gnu::always_inline]] static void step(auto& x) noexcept { x = (x * 0.999F) + 0.001F; }
};

struct FmaDouble {
  using Number = double;
  [[gnu::always_inline]] static void step(auto& x) noexcept { x = (x * 0.999) + 0.001; }
};

struct Divide {
  using Number = double;
  [[gnu::always_inline]] static void step(auto& x) noexcept { x = 2.5 / x; }
};

struct SquareRoot {
  using Number = double;
  [[gnu::always_inline]] static void step(auto& x) noexcept {
    for (std::size_t lane = 0; lane < sizeof(x) / sizeof(Number); ++lane) {
      x[lane] = std::sqrt(x[lane]);
    }
  }
};

struct MultiplyInteger {
  using Number = std::uint64_t;
  [[gnu::always_inline]] static void step(auto& x) noexcept { x *= 6364136223846793005U; }
};

/// A step on each vector of so many bytes, `rounds` times; the sum of all lanes.
template <class Step, std::size_t bytes>
[[gnu::always_inline]] inline double repeat(std::uint64_t rounds) noexcept {
  using Number = Step::Number;
  using Vector [[gnu::vector_size(bytes)]] = Number;
  struct Held {  // a template's argument would lose the attribute
    Vector vector;
  };
  std::array<Held, vectors> all;
  for (std::size_t n = 0; n < vectors; ++n) {
    all[n].vector = Vector{} + static_cast<Number>(n + 3);
  }
  for (std::uint64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 8
    for (std::size_t n = 0; n < vectors; ++n) {
      Step::step(all[n].vector);
    }
  }
  double sum = 0;
  for (const auto& [vector] : all) {
    for (std::size_t lane = 0; lane < bytes / sizeof(Number); ++lane) {
      sum += static_cast<double>(vector[lane]);
    }
  }
  return sum;
}

using Run = double (*)(std::uint64_t rounds) noexcept;

/// The vectors of this CPU. One that is wider than the registers would go through memory: GCC then takes it apart.
struct Width {
  std::size_t bytes;
  Run run;
};

template <class Step>
double with_16_bytes(std::uint64_t rounds) noexcept {
  return repeat<Step, 16>(rounds);
}

#ifdef WORKLOADS_SEVERAL_INSTRUCTION_SETS
template <class Step>
[[gnu::target("avx2,fma")]] double with_32_bytes(std::uint64_t rounds) noexcept {
  return repeat<Step, 32>(rounds);
}

template <class Step>
[[gnu::target("avx512f,avx512dq")]] double with_64_bytes(std::uint64_t rounds) noexcept {
  return repeat<Step, 64>(rounds);
}

template <class Step>
Width widest() noexcept {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    return {.bytes = 64, .run = with_64_bytes<Step>};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {.bytes = 32, .run = with_32_bytes<Step>};
  }
  return {.bytes = 16, .run = with_16_bytes<Step>};
}
#else
template <class Step>
Width widest() noexcept {
  return {.bytes = 16, .run = with_16_bytes<Step>};
}
#endif

template <class Step>
Operation operation(std::string_view name, std::string_view meaning, double flops) noexcept {
  const auto [bytes, run] = widest<Step>();
  return {.name = name,
          .meaning = meaning,
          .flops = flops,
          .a_round = vectors * bytes / sizeof(typename Step::Number),
          .run = run};
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
  static const std::array<Operation, 5> table{
      operation<FmaSingle>("fma-single", "multiply and add, single precision", 2),
      operation<FmaDouble>("fma-double", "multiply and add, double precision", 2),
      operation<Divide>("divide", "divide, double precision", 1),
      operation<SquareRoot>("sqrt", "square root, double precision", 1),
      operation<MultiplyInteger>("multiply-integer", "multiply 64-bit integers", 0),
  };
  return table;
}

}  // namespace workloads::roofline
