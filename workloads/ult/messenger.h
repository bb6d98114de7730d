// SPDX-License-Identifier: BSD-3-Clause
// Communication as a task does it: plain blocking calls, or test-and-yield where nobody suspends a user-level thread.
#pragma once

#include <mpi.h>

#include <array>
#include <functional>

#include "microbench/payload.h"

namespace workloads {

/// Used by any number of threads, each with tags of its own.
class Messenger {
 public:
  /// `yield` is called between two tests; null: the calls block (MPI_Send, MPI_Recv, MPI_Sendrecv).
  Messenger(int partner, std::function<void()> yield) : partner_(partner), yield_(std::move(yield)) {}

  void send(Payload& payload, int tag) const;
  void receive(Payload& payload, int tag) const;
  /// One message each way.
  void exchange(Payload& out, Payload& in, int tag) const;

 private:
  template <std::size_t count>
  void finish(std::array<MPI_Request, count> requests) const;

  int partner_;
  std::function<void()> yield_;
};

}  // namespace workloads
