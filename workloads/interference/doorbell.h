// SPDX-License-Identifier: BSD-3-Clause
// A line of memory that the partner stores into after each message, where both ranks are on one node.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace workloads {

/// Rank 0's line, which rank 1 rings. Made and destroyed by both together.
class Doorbell {
 public:
  Doorbell();
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;
  Doorbell(Doorbell&&) = delete;
  Doorbell& operator=(Doorbell&&) = delete;

  /// False where the ranks share no memory, or this MPI does not let them; then nothing else may be called.
  [[nodiscard]] bool usable() const noexcept { return line_ != nullptr; }

  /// Rank 1, after its message has left. A system call only if rank 0 sleeps.
  void ring() noexcept;

  /// Rank 0: how often it rang.
  [[nodiscard]] const std::atomic<std::uint32_t>& rings() const noexcept { return line_->rings; }
  /// Rank 0: sleeps in the kernel until it has rung more often than `seen`, at most for `bound`.
  void sleep(std::uint32_t seen, std::chrono::nanoseconds bound) noexcept;

 private:
  struct alignas(128) Line {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> asleep;
  };

  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  Line* line_ = nullptr;
};

}  // namespace workloads
