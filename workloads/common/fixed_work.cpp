// SPDX-License-Identifier: BSD-3-Clause
#include "common/fixed_work.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/clock.h"

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

namespace {

constexpr const char* parameter_name = "compute";

}  // namespace

Parameter compute_parameter() {
  auto parameter = choice_parameter(parameter_name, {"real", "sleep"},
                                    "the computation, or a sleep of 1 us a unit in its place", "real");
  if (time_is_simulated) {  // a real one would take none of it, and each record is to say so
    parameter.domain = Choices{"sleep"};
    parameter.default_value = nullptr;
  }
  return parameter;
}

bool can_sleep(const Parameters& parameters) {
  return std::ranges::find(parameters, parameter_name, &Parameter::name) != parameters.end();
}

bool is_slept(const Json& point, const Parameters& parameters) {
  return choice_of(point, parameters, parameter_name) == "sleep";
}

void sleep_units(std::uint64_t units) noexcept { sleep_for(static_cast<double>(units) * slept_unit_s); }

}  // namespace workloads
