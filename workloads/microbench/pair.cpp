// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/pair.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/clock.h"
#include "common/errors.h"

namespace workloads {
namespace {

enum Tag : std::uint8_t { ready = 1, go, acknowledgement, ping, pong };

}  // namespace

void check_pairs(const Json& /*point*/, int ranks) {
  if (ranks % 2 != 0) {
    throw UsageError(
        fmt::format("pairs of ranks are needed (i with i + n/2), and there {} {}: start 2, 4, 6, ... of them",
                    ranks == 1 ? "is" : "are", ranks));
  }
}

Pair::Pair(const MpiProcess& mpi)
    : ranks_(mpi.size()), partner_((mpi.rank() + (mpi.size() / 2)) % mpi.size()), sender_(mpi.rank() < mpi.size() / 2) {
  constexpr int attempts = 20;
  double smallest = std::numeric_limits<double>::max();
  for (int attempt = 0; attempt < attempts; ++attempt) {
    smallest = std::min(smallest, measure_latency());
  }
  latency_s_ = smallest;
}

void Pair::synchronise() const {
  if (ranks_ > 2) {
    require(MPI_Barrier(MPI_COMM_WORLD));
  }
  if (sender_) {
    receive_empty(ready);
    const auto begin = Clock::now();
    send_empty(go);
    spin_for(latency_s_ - seconds_since(begin));
  } else {
    send_empty(ready);
    receive_empty(go);
  }
}

void Pair::send_acknowledgement() const { send_empty(acknowledgement); }

void Pair::await_acknowledgement() const { receive_empty(acknowledgement); }

double Pair::measure_latency() const {
  double latency_s = 0;
  if (sender_) {
    latency_s = half_round_trip();
    answer_round_trip();
  } else {
    answer_round_trip();
    latency_s = half_round_trip();
  }
  return latency_s;
}

double Pair::half_round_trip() const {
  const auto begin = Clock::now();
  send_empty(ping);
  receive_empty(pong);
  return seconds_since(begin) / 2;
}

void Pair::answer_round_trip() const {
  receive_empty(ping);
  send_empty(pong);
}

void Pair::send_empty(int tag) const { require(MPI_Send(nullptr, 0, MPI_BYTE, partner_, tag, MPI_COMM_WORLD)); }

void Pair::receive_empty(int tag) const {
  require(MPI_Recv(nullptr, 0, MPI_BYTE, partner_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

}  // namespace workloads
