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

/// Page-aligned memory, touched once here, used again by every repetition.
class Payload {
 public:
  /// std::bad_alloc if there is not enough memory.
  explicit Payload(std::size_t bytes);

  [[nodiscard]] void* data() noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {memory_.get(), size_}; }

  void fill(std::uint64_t seed) noexcept;

  /// What is wrong with the contents, a sentence; empty if they are those of `seed`.
  [[nodiscard]] std::string check(std::uint64_t seed) const;

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::size_t size_;
};

}  // namespace workloads
