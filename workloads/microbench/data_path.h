// SPDX-License-Identifier: BSD-3-Clause
// How the bytes of a message get from the sender of a pair to its receiver: by MPI, or without it.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include "microbench/pair.h"

namespace workloads {

/// This rank's end. Made and destroyed by both ranks of the pair together.
class DataPath {
 public:
  DataPath() = default;
  DataPath(const DataPath&) = delete;
  DataPath& operator=(const DataPath&) = delete;
  DataPath(DataPath&&) = delete;
  DataPath& operator=(DataPath&&) = delete;
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

}  // namespace workloads
