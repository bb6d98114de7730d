// SPDX-License-Identifier: BSD-3-Clause
#include "common/fixed_work.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace workloads {
namespace {

constexpr std::uint64_t advance(std::uint64_t value) { return (generator_multiplier * value) + generator_increment; }

/// One chain of dependent multiplications: no memory, no vector unit, no parallelism that a neighbour could spoil.
class RegisterWork final : public FixedWork {
 public:
  void run(std::uint64_t units) noexcept override {
    std::uint64_t value = state_;
    for (std::uint64_t step = units * register_steps_per_unit; step > 0; --step) {
      value = advance(value);
      asm volatile("" : "+r"(value));  // the compiler must not merge steps: two of them are one of another multiplier
    }
    state_ = value;
  }

  [[nodiscard]] std::uint64_t checksum() const noexcept override { return state_; }

 private:
  std::uint64_t state_ = 1;
};

/// Reads and writes a ring of memory beyond the caches, 8 KiB a unit.
class MemoryWork final : public FixedWork {
 public:
  MemoryWork() : ring_(ring_words(), 1) {}

  void run(std::uint64_t units) noexcept override {
    for (; units > 0; --units) {
      std::uint64_t* const chunk = ring_.data() + position_;
      for (std::size_t i = 0; i < memory_words_per_unit; ++i) {
        chunk[i] = advance(chunk[i]);
      }
      asm volatile("" ::: "memory");  // every unit's stores happen
      position_ = (position_ + memory_words_per_unit) % ring_.size();
      ++units_done_;
    }
  }

  [[nodiscard]] std::uint64_t checksum() const noexcept override { return ring_[position_] + units_done_; }

 private:
  static std::size_t ring_words() {
    constexpr long mebibyte = 1024L * 1024;
    constexpr long smallest = 64 * mebibyte;
    constexpr long largest = 256 * mebibyte;  // a server's last level is shared: no core can keep this much of it
    const long bytes = std::clamp(2 * sysconf(_SC_LEVEL3_CACHE_SIZE), smallest, largest);
    const auto chunk_bytes = static_cast<long>(memory_words_per_unit * sizeof(std::uint64_t));
    return static_cast<std::size_t>(bytes / chunk_bytes) * memory_words_per_unit;
  }

  std::vector<std::uint64_t> ring_;
  std::size_t position_ = 0;
  std::uint64_t units_done_ = 0;
};

}  // namespace

std::unique_ptr<FixedWork> make_fixed_work(WorkKind kind) {
  if (kind == WorkKind::memory_bound) {
    return std::make_unique<MemoryWork>();
  }
  return std::make_unique<RegisterWork>();
}

}  // namespace workloads
