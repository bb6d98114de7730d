// SPDX-License-Identifier: BSD-3-Clause
// One message from the sender of a pair to its receiver, with whatever happens between its start and its completion.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "common/overlap_sample.h"
#include "microbench/data_path.h"
#include "microbench/pair.h"
#include "microbench/payload.h"
#include "microbench/receive_posting.h"

namespace workloads {

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
