// SPDX-License-Identifier: BSD-3-Clause
// A message's memory and its contents: a pattern that differs from one seed to the next in every byte position, so that
// stale, shifted or torn data are seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace workloads {

void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed) noexcept;

/// What is wrong with the contents, a sentence; empty if they are those of `seed`.
std::string check_pattern(std::span<const std::byte> bytes, std::uint64_t seed);

/// The same of numbers of 8 bytes: each must be the sum, modulo 2^64, of the patterns of these seeds there.
std::string check_sum(std::span<const std::byte> bytes, std::span<const std::uint64_t> seeds);

/// The 8 bytes at 8 * index of a pattern.
constexpr std::uint64_t pattern_word(std::uint64_t seed, std::size_t index) {
  // Consecutive seeds differ in every byte; neighbouring words differ by an odd constant.
  constexpr std::uint64_t every_byte = 0x0101010101010101;
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  return (seed * every_byte) ^ (golden_ratio * index);
}

/// Page-aligned memory, touched once here, used again by every repetition.
class Payload {
 public:
  /// std::bad_alloc if there is not enough memory.
  explicit Payload(std::size_t bytes);

  [[nodiscard]] void* data() noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {memory_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {memory_.get(), size_}; }

  void fill(std::uint64_t seed) noexcept { fill_pattern(bytes(), seed); }
  [[nodiscard]] std::string check(std::uint64_t seed) const { return check_pattern(bytes(), seed); }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::size_t size_;
};

}  // namespace workloads
