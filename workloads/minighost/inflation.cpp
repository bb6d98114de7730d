// SPDX-License-Identifier: BSD-3-Clause
#include "minighost/inflation.h"

#include <algorithm>
#include <cstddef>

#include "minighost/stencil.h"

namespace workloads::minighost {
namespace {

constexpr int points_a_unit = 1024;

}  // namespace

Inflation::Inflation(int edge)
    : layout_{.interior = {edge, edge, edge}},
      rows_a_unit_(std::max(1, points_a_unit / edge)),
      in_(layout_.points(), 1.0),
      out_(layout_.points(), 1.0) {
  for_each_row(layout_, layout_.inside(0), [&](std::size_t first, std::size_t length) {
    std::fill_n(in_.begin() + static_cast<std::ptrdiff_t>(first), length, 2.0);
  });
}

void Inflation::sweep_row() noexcept {
  const int edge = layout_.interior[0];
  const int i = 1 + (row_ / edge);
  const int j = 1 + (row_ % edge);
  apply(Stencil::seven, layout_, {.begin = {i, j, 1}, .end = {i + 1, j + 1, edge + 1}}, in_.data(), out_.data());
  if (++row_ == edge * edge) {
    row_ = 0;
    std::swap(in_, out_);
  }
}

void Inflation::run(std::uint64_t units) noexcept {
  for (std::uint64_t unit = 0; unit < units; ++unit) {
    for (int row = 0; row < rows_a_unit_; ++row) {
      sweep_row();
    }
  }
}

double Inflation::mean() const noexcept {
  double sum = 0;
  for_each_row(layout_, layout_.inside(0), [&](std::size_t first, std::size_t length) {
    for (std::size_t n = first; n < first + length; ++n) {
      sum += in_[n];
    }
  });
  return sum / static_cast<double>(layout_.inside(0).points());
}

namespace {

constexpr std::size_t places = 64;

std::byte poison_at(std::uint64_t seed, std::size_t byte) noexcept {
  constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  const std::uint64_t word = pattern_word(seed, byte / word_bytes);  // little-endian, as the pattern itself
  return ~static_cast<std::byte>(word >> (8 * (byte % word_bytes)));
}

}  // namespace

void poison(std::span<std::byte> halo, std::uint64_t seed) noexcept {
  fill_pattern(halo, seed);
  std::ranges::transform(halo, halo.begin(), [](std::byte byte) { return ~byte; });
}

double changed_share(std::span<const std::byte> halo, std::uint64_t seed) noexcept {
  const std::size_t looked_at = std::min(places, halo.size());
  if (looked_at == 0) {
    return 1;
  }
  std::size_t changed = 0;
  for (std::size_t n = 1; n <= looked_at; ++n) {
    const std::size_t byte = (halo.size() * n / looked_at) - 1;
    const volatile std::byte* place = halo.data() + byte;  // somebody else may write it right now
    changed += *place != poison_at(seed, byte) ? 1 : 0;
  }
  return static_cast<double>(changed) / static_cast<double>(looked_at);
}

}  // namespace workloads::minighost
