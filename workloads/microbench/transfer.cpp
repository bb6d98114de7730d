// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/transfer.h"

#include <mpi.h>

#include "common/clock.h"

namespace workloads {
Transfer::Transfer(const MpiProcess& mpi, std::size_t bytes, ReceivePosting posting, double settle_s,
                   std::chrono::microseconds tcp_wake)
    : pair_(mpi),
      path_(tcp_wake.count() > 0 ? make_tcp_path(pair_, tcp_wake) : make_mpi_path(pair_)),
      payload_(bytes),
      posting_(posting),
      settle_s_(settle_s) {}

TransferTimes Transfer::run(const std::function<void(MPI_Request&)>& between) {
  ++seed_;
  if (pair_.is_sender()) {
    payload_.fill(seed_);
  }
  spin_for(settle_s_);  // awake: a core that slept would be slower afterwards
  TransferTimes times;
  const auto timed_start = [&] {
    const auto begin = Clock::now();
    path_->start(payload_.bytes());
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
  between(path_->request());
  const auto waiting = Clock::now();
  path_->finish();
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
