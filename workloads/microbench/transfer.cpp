// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/transfer.h"

#include <mpi.h>

#include "common/clock.h"

namespace workloads {
namespace {

constexpr int message_tag = 100;

}  // namespace

Transfer::Transfer(const MpiProcess& mpi, std::size_t bytes, ReceivePosting posting, double settle_s)
    : pair_(mpi), payload_(bytes), posting_(posting), settle_s_(settle_s) {}

MPI_Request Transfer::start() {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto count = static_cast<int>(payload_.size());
  if (pair_.is_sender()) {
    require(MPI_Isend(payload_.data(), count, MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD, &request),
            "MPI_Isend");
  } else {
    require(MPI_Irecv(payload_.data(), count, MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD, &request),
            "MPI_Irecv");
  }
  return request;  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): run() waits for it
}

TransferTimes Transfer::run(const std::function<void(MPI_Request&)>& between) {
  ++seed_;
  if (pair_.is_sender()) {
    payload_.fill(seed_);
  }
  spin_for(settle_s_);  // awake: a core that slept would be slower afterwards
  TransferTimes times;
  MPI_Request request = MPI_REQUEST_NULL;
  const auto timed_start = [&] {
    const auto begin = Clock::now();
    request = start();
    times.post_s = seconds_since(begin);
  };
  const bool start_first = !pair_.is_sender() && posting_ == ReceivePosting::preposted;
  if (start_first) {
    timed_start();
  }
  pair_.synchronise();

  const Usage usage = read_usage();
  const auto begin = Clock::now();
  if (!start_first) {
    timed_start();
  }
  const auto started = Clock::now();
  between(request);
  const auto waiting = Clock::now();
  // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): start() started it
  require(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  const auto complete = Clock::now();
  if (pair_.is_sender()) {
    pair_.await_acknowledgement();
    times.total_s = seconds_since(begin);
  } else {
    times.total_s = seconds_between(begin, complete);
    pair_.send_acknowledgement();
  }
  times.usage = read_usage() - usage;
  times.between_s = seconds_between(started, waiting);
  times.wait_s = seconds_between(waiting, complete);
  if (!pair_.is_sender()) {
    times.problem = payload_.check(seed_);
  }
  return times;
}

}  // namespace workloads
