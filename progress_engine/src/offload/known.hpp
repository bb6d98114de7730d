// SPDX-License-Identifier: BSD-3-Clause
// What the program's threads know of handles without asking the MPI, which only the communication thread may.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "mpi/mpi_handles.hpp"

namespace progress_engine::offload {

// The predefined types whose values lie close together in memory.
class KnownTypes {
 public:
  // On the communication thread, after MPI_Init.
  void learn();
  // Bytes of one value; 0 for a type that is not known.
  std::size_t size_of(MPI_Datatype type) const {
    for (const auto& [known, size] : sizes_)
      if (known == type) return size;
    return 0;
  }

 private:
  std::vector<std::pair<MPI_Datatype, std::size_t>> sizes_;
};
KnownTypes& known_types();

// Communicators on which sends have been seen: how many processes can be sent to. A small cache.
class KnownCommunicators {
 public:
  // 0 for one that is not known. Any thread.
  int size_of(MPI_Comm comm) const {
    const Entry& entry = entry_of(comm);
    if (entry.key.load(std::memory_order_acquire) != key_of(comm)) return 0;
    const int size = entry.size.load(std::memory_order_acquire);
    return entry.key.load(std::memory_order_relaxed) == key_of(comm) ? size : 0;
  }
  // On the communication thread.
  void learn(MPI_Comm comm);
  // Before it is freed; any thread.
  void forget(MPI_Comm comm);

 private:
  struct Entry {
    std::atomic<std::uintptr_t> key{0};
    std::atomic<int> size{0};
  };
  static std::uintptr_t key_of(MPI_Comm comm) {
    std::uintptr_t key = 0;
    std::memcpy(&key, &comm, sizeof comm);
    return key;
  }
  static std::size_t place_of(MPI_Comm comm) {
    const auto key = static_cast<std::uint64_t>(key_of(comm));
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> 58);
  }
  const Entry& entry_of(MPI_Comm comm) const { return entries_[place_of(comm)]; }

  std::array<Entry, 64> entries_;
};
KnownCommunicators& known_communicators();

}  // namespace progress_engine::offload
