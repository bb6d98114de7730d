// SPDX-License-Identifier: BSD-3-Clause
// How a thread waits for its message, and the memory by which a partner on the same node can wake it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/noncopyable.h"

namespace workloads {

// A line of memory that the partner stores into after each message, where both ranks are on one node.

/// Rank 0's line, which rank 1 rings. Made and destroyed by both together.
class Doorbell : NonCopyable {
 public:
  Doorbell();
  ~Doorbell();

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

// How a thread that waits for a message spends its time between two looks at it (MPI_Test).

class Detection : NonCopyable {
 public:
  virtual ~Detection() = default;

  /// Before a look: what comes from here on ends the next wait().
  virtual void arm() {}
  /// After a look in vain. Always ends by itself, after some 100 us to 1 ms: a signal that was missed costs latency.
  virtual void wait() = 0;
};

/// spin, pause, yield, sleep, epoll, futex, mwait-c0, mwait-c1.
const std::vector<std::string>& detection_names();

/// Whether the partner must ring after each message.
bool needs_doorbell(const std::string& name);

/// The method of this name. `doorbell`: null unless it needs one. Null, and a sentence in `why_not`, where this machine
/// or the ranks' places do not offer it.
std::unique_ptr<Detection> make_detection(const std::string& name, Doorbell* doorbell, std::string& why_not);

}  // namespace workloads
