// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace workloads {
namespace {

constexpr std::size_t alignment = 4096;
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

std::byte* allocate(std::size_t bytes) {
  const std::size_t rounded = (bytes / alignment + 1) * alignment;  // 0 bytes get a page too
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  std::memset(memory, 0, rounded);
  return memory;
}

}  // namespace

void Payload::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }

Payload::Payload(std::size_t bytes) : memory_(allocate(bytes)), size_(bytes) {}

void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed) noexcept {
  for (std::size_t i = 0; i * word_bytes < bytes.size(); ++i) {
    const std::uint64_t value = pattern_word(seed, i);
    std::memcpy(bytes.data() + (i * word_bytes), &value, std::min(word_bytes, bytes.size() - (i * word_bytes)));
  }
}

std::string check_pattern(std::span<const std::byte> bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i * word_bytes < bytes.size(); ++i) {
    const std::uint64_t expected = pattern_word(seed, i);
    const std::size_t here = std::min(word_bytes, bytes.size() - (i * word_bytes));
    if (std::memcmp(bytes.data() + (i * word_bytes), &expected, here) != 0) {
      return fmt::format("the message of {} bytes is wrong at byte {} or just behind", bytes.size(), i * word_bytes);
    }
  }
  return {};
}

std::string check_sum(std::span<const std::byte> bytes, std::span<const std::uint64_t> seeds) {
  for (std::size_t i = 0; i * word_bytes < bytes.size(); ++i) {
    std::uint64_t expected = 0;
    for (const std::uint64_t seed : seeds) {
      expected += pattern_word(seed, i);
    }
    if (std::memcmp(bytes.data() + (i * word_bytes), &expected, word_bytes) != 0) {
      return fmt::format("the sum of {} contributions is wrong at number {} of {}", seeds.size(), i,
                         bytes.size() / word_bytes);
    }
  }
  return {};
}

}  // namespace workloads
