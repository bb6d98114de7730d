// SPDX-License-Identifier: BSD-3-Clause
// Which rank of MPI_COMM_WORLD a rank of a communicator is, remembered: asking the MPI costs some hundred nanoseconds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/inlining.hpp"
#include "mpi/mpi_handles.hpp"
#include "mpi/mpi_header.hpp"

namespace progress_engine {

// Any thread, without locks. An answer may be out of date for a communicator that has just been freed and made again:
// good for hints, not for more.
class WorldRanks {
 public:
  explicit WorldRanks(const MpiHandles& handles) : world_(handles.comm_world) {}

  // Negative if it is none: MPI_PROC_NULL, or a process of another world.
  PE_ALWAYS_INLINE int of(MPI_Comm communicator, int rank) {
    if (rank < 0 || communicator == world_) return rank;
    const std::uint64_t key = mix(communicator, rank);
    const Entry& entry = entries_[key % size];
    const auto value = entry.value.load(std::memory_order_relaxed);
    if ((entry.check.load(std::memory_order_relaxed) ^ value) == key) return static_cast<int>(value) - 1;
    return ask(communicator, rank, key);
  }
  // A communicator is gone, and its handle may come again.
  void forget() { epoch_.fetch_add(1, std::memory_order_relaxed); }

 private:
  // Torn pairs tell themselves: the check is the key combined with the value (Hyatt's lockless hashing).
  struct Entry {
    std::atomic<std::uint64_t> check{0};
    std::atomic<std::uint64_t> value{0};  // the rank plus one
  };
  static constexpr std::size_t size = 256;

  PE_ALWAYS_INLINE std::uint64_t mix(MPI_Comm communicator, int rank) const {
    auto bits = (std::uint64_t)communicator;  // a pointer or an integer
    bits = (bits ^ (epoch_.load(std::memory_order_relaxed) << 48)) * 0x9E3779B97F4A7C15;
    bits = (bits ^ (bits >> 29) ^ static_cast<unsigned>(rank)) * 0xBF58476D1CE4E5B9;
    return bits ^ (bits >> 32) ^ 1;
  }
  int ask(MPI_Comm communicator, int rank, std::uint64_t key);

  MPI_Comm world_;
  std::atomic<std::uint64_t> epoch_{0};
  std::array<Entry, size> entries_{};
};

}  // namespace progress_engine
