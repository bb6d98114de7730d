// SPDX-License-Identifier: BSD-3-Clause
#include "minighost/halo_probe.h"

#include <algorithm>
#include <cstddef>

namespace workloads::minighost {
namespace {

constexpr std::size_t places = 64;

std::byte poison_at(std::uint64_t seed, std::size_t byte) noexcept {
  constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  const std::uint64_t word = pattern_word(seed, byte / word_bytes);  // little-endian, as the pattern itself
  return ~static_cast<std::byte>(word >> (8 * (byte % word_bytes)));
}

}  // namespace

void poison(Payload& halo, std::uint64_t seed) noexcept {
  halo.fill(seed);
  std::ranges::transform(halo.bytes(), halo.bytes().begin(), [](std::byte byte) { return ~byte; });
}

double changed_share(const Payload& halo, std::uint64_t seed) noexcept {
  const std::size_t looked_at = std::min(places, halo.size());
  if (looked_at == 0) {
    return 1;
  }
  std::size_t changed = 0;
  for (std::size_t n = 1; n <= looked_at; ++n) {
    const std::size_t byte = (halo.size() * n / looked_at) - 1;
    const volatile std::byte* place = halo.bytes().data() + byte;  // somebody else may write it right now
    changed += *place != poison_at(seed, byte) ? 1 : 0;
  }
  return static_cast<double>(changed) / static_cast<double>(looked_at);
}

}  // namespace workloads::minighost
