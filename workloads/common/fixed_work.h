// SPDX-License-Identifier: BSD-3-Clause
// A fixed amount of computation. Kernels that end when a clock says so hide stolen cycles: whoever takes half of the
// core then looks harmless. Here N units are N times the same instructions, however long they take.
#pragma once

#include <cstdint>
#include <memory>

#include "common/noncopyable.h"
#include "common/parameters.h"

namespace workloads {

enum class WorkKind : std::uint8_t { register_bound, memory_bound };

/// One kernel with its state. A unit takes about 1 us on a core of the 2020s. Not for several threads at once.
class FixedWork : NonCopyable {
 public:
  virtual ~FixedWork() = default;

  /// Does exactly `units` units. No system call, no clock, no MPI.
  virtual void run(std::uint64_t units) noexcept = 0;

  /// Depends on every step done since construction: equal work gives equal checksums, nothing can be left out.
  [[nodiscard]] virtual std::uint64_t checksum() const noexcept = 0;
};

/// The state is allocated and touched here. std::bad_alloc if a memory-bound kernel's buffer cannot be had.
std::unique_ptr<FixedWork> make_fixed_work(WorkKind kind);

/// The generator behind both kernels (Knuth's MMIX constants): x -> multiplier * x + increment modulo 2^64.
inline constexpr std::uint64_t generator_multiplier = 6364136223846793005U;
inline constexpr std::uint64_t generator_increment = 1442695040888963407U;
inline constexpr std::uint64_t register_steps_per_unit = 1'000;
inline constexpr std::uint64_t memory_words_per_unit = 1'024;

// Computation replaced by sleep, on a machine with fewer cores than ranks: what is left is communication, its progress,
// and when the program calls MPI. Nothing measured so says what computation and progress take from each other.

/// A unit of work that is slept, of whatever it is a unit.
inline constexpr double slept_unit_s = 1e-6;

/// "compute": real or sleep. It stands in the point, so that each record says it. In simulated time only sleep.
Parameter compute_parameter();

/// Whether compute_parameter() is among them.
bool can_sleep(const Parameters& parameters);

bool is_slept(const Json& point, const Parameters& parameters);

/// This thread sleeps `units` times slept_unit_s, from now on.
void sleep_units(std::uint64_t units) noexcept;

}  // namespace workloads
