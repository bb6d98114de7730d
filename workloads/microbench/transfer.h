// SPDX-License-Identifier: BSD-3-Clause
// One message from the sender of a pair to its receiver, and how its bytes get there.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "common/noncopyable.h"
#include "common/overlap_sample.h"
#include "microbench/benchmarks.h"
#include "microbench/pair.h"
#include "microbench/payload.h"

namespace workloads {

// How the bytes of a message get from the sender of a pair to its receiver: by MPI, or without it.

/// This rank's end. Made and destroyed by both ranks of the pair together.
class DataPath : NonCopyable {
 public:
  virtual ~DataPath() = default;

  /// Starts to send all of `message`, or to receive into it; it stays until finish() has returned.
  virtual void start(std::span<std::byte> message) = 0;

  /// What may be tested until finish(); MPI_REQUEST_NULL where it is complete or MPI does not move the message.
  virtual MPI_Request& request() noexcept = 0;

  /// Returns when this side is complete.
  virtual void finish() = 0;
};

/// A nonblocking send or receive, and MPI_Wait.
std::unique_ptr<DataPath> make_mpi_path(const Pair& pair);

/// No MPI: a TCP connection of the pair, and on each side a MovingThread that sleeps for at least `wake_interval` after
/// each of its moves. MPI carries the addresses, once. std::exception where no connection can be made.
std::unique_ptr<DataPath> make_tcp_path(const Pair& pair, std::chrono::microseconds wake_interval);

// One message from the sender of a pair to its receiver, with whatever happens between its start and its completion.

/// For the sender, total_s ends when the acknowledgement has come; `inside` is the caller's to fill.
struct TransferTimes : OverlapRun {
  double between_s = 0;  ///< seconds: what happened between start and completion
};

/// Owns the message's memory. Collective over the pair.
class Transfer {
 public:
  /// `settle_s`: pause before each run, see LaunchOptions. `tcp_wake`: not MPI moves the message, see make_tcp_path; 0:
  /// MPI does.
  Transfer(const MpiProcess& mpi, std::size_t bytes, ReceivePosting posting, double settle_s,
           std::chrono::microseconds tcp_wake = {});

  /// Runs `between`, which may test the request, after the start and before the completing call. A preposted receive
  /// starts before the clock does.
  TransferTimes run(const std::function<void(MPI_Request&)>& between);

  [[nodiscard]] const Pair& pair() const noexcept { return pair_; }

 private:
  Pair pair_;
  std::unique_ptr<DataPath> path_;
  Payload payload_;
  ReceivePosting posting_;
  double settle_s_;
  std::uint64_t seed_ = 0;
};

}  // namespace workloads
