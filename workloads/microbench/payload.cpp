// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/payload.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace workloads {
namespace {

constexpr std::size_t alignment = 4096;
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

// Consecutive seeds differ in every byte; neighbouring words differ by an odd constant.
constexpr std::uint64_t word(std::uint64_t seed, std::size_t index) {
  constexpr std::uint64_t every_byte = 0x0101010101010101;
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  return (seed * every_byte) ^ (golden_ratio * index);
}

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

void Payload::fill(std::uint64_t seed) noexcept {
  for (std::size_t i = 0; i * word_bytes < size_; ++i) {
    const std::uint64_t value = word(seed, i);
    std::memcpy(memory_.get() + (i * word_bytes), &value, std::min(word_bytes, size_ - (i * word_bytes)));
  }
}

std::string Payload::check(std::uint64_t seed) const {
  for (std::size_t i = 0; i * word_bytes < size_; ++i) {
    const std::uint64_t expected = word(seed, i);
    const std::size_t here = std::min(word_bytes, size_ - (i * word_bytes));
    if (std::memcmp(memory_.get() + (i * word_bytes), &expected, here) != 0) {
      return fmt::format("the message of {} bytes is wrong at byte {} or just behind", size_, i * word_bytes);
    }
  }
  return {};
}

}  // namespace workloads
