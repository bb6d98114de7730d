// SPDX-License-Identifier: BSD-3-Clause
// An experiment, off by default (doorbell=rma): ringing across nodes by MPI_Put into the receiver's doorbell.
//
// Over networks with remote direct memory access the ring arrives without the receiver's CPU, and a wait in user mode
// sees it; over sockets it needs the progress that it asks for. The window is made by a collective call over
// MPI_COMM_WORLD: all ranks must be run with this setting.
#pragma once

#include <atomic>
#include <vector>

#include "mpi/mpi_handles.hpp"
#include "mpi/mpi_header.hpp"
#include "wakeup/doorbell.hpp"

namespace progress_engine {

// Whether all ranks go on to make the window. Each that has the setting takes part, whatever becomes of its engine: who
// has not said that it can by the end of this says that it cannot.
class RmaAgreement {
 public:
  // Collective from its construction on if `asked`.
  explicit RmaAgreement(bool asked);
  ~RmaAgreement() { reach(false); }
  RmaAgreement(const RmaAgreement&) = delete;
  RmaAgreement& operator=(const RmaAgreement&) = delete;

  // Once; false if nothing was asked, or was said before.
  bool reach(bool can);

 private:
  const MpiHandles handles_{};
  std::vector<char> all_;  // what each rank says; empty if there is nothing left to say
};

class RmaWakeup {
 public:
  // Collective, as is the end. Messages of at least `bytes` ring, each rank at most once in `interval`. Throws
  // std::runtime_error.
  RmaWakeup(const MpiHandles& handles, WakeupLine& own, int size, long bytes, Nanoseconds interval);
  ~RmaWakeup();
  RmaWakeup(const RmaWakeup&) = delete;
  RmaWakeup& operator=(const RmaWakeup&) = delete;

  // After `count` elements of `type` were sent to `rank` of MPI_COMM_WORLD, which is not on this node. Any thread.
  void ring(int rank, long count, MPI_Datatype type);
  std::uint64_t rings() const { return rings_.load(std::memory_order_relaxed); }

 private:
  const MpiHandles& handles_;
  const long bytes_;
  const Nanoseconds interval_;
  MPI_Win window_{};
  std::vector<std::atomic<Nanoseconds>> last_;
  std::atomic<std::uint64_t> rings_{0};
};

}  // namespace progress_engine
