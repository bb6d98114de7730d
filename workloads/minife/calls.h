// SPDX-License-Identifier: BSD-3-Clause
// Time and packets of each MPI call, read where the program makes it: no function of MPI is wrapped, so that an engine
// sees the calls as the program's, and without one they are measured in the same way.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "common/kernel.h"
#include "common/kernel_counters.h"

namespace workloads::minife {

/// send: MPI_Isend or MPI_Send, as the mode has it; allreduce: MPI_Allreduce or the start of MPI_Iallreduce, which
/// allreduce_wait completes; exchange: threads that send and receive, from their start to their end.
enum class Call : std::uint8_t { irecv, send, wait, allreduce, allreduce_wait, barrier, exchange };

inline constexpr std::array<std::string_view, 7> call_names{"irecv",          "send",    "wait",    "allreduce",
                                                            "allreduce_wait", "barrier", "exchange"};

/// Of one solve, on the thread that solves.
class Calls {
 public:
  /// `connections`: read around each call; null if packets are not wanted, since a reading takes some microseconds.
  /// `slowdown`: factor on all computation.
  Calls(const TcpConnections* connections, double slowdown)
      : connections_(connections), phases_(slowdown), last_(read()) {}

  template <class Action>
  void make(Call call, Action action) {
    phases_.communicate([&] {
      outside_ += since_last();
      const auto begin = Clock::now();
      action();
      seconds_[index(call)] += seconds_since(begin);
      traffic_[index(call)] += since_last();
    });
  }

  /// After the last call.
  void end() {
    phases_.end_of_computation();
    outside_ += since_last();
  }

  [[nodiscard]] double seconds(Call call) const noexcept { return seconds_[index(call)]; }
  /// Of all calls together.
  [[nodiscard]] double seconds() const noexcept { return std::accumulate(seconds_.begin(), seconds_.end(), 0.0); }
  [[nodiscard]] const Traffic& traffic(Call call) const noexcept { return traffic_[index(call)]; }
  /// What moved while the program computed.
  [[nodiscard]] const Traffic& outside() const noexcept { return outside_; }

 private:
  static std::size_t index(Call call) noexcept { return static_cast<std::size_t>(call); }
  [[nodiscard]] Traffic read() const noexcept { return connections_ == nullptr ? Traffic{} : connections_->read(); }
  Traffic since_last() noexcept {
    const Traffic now = read();
    const Traffic difference = now - last_;
    last_ = now;
    return difference;
  }

  const TcpConnections* connections_;
  Phases phases_;
  Traffic last_;
  Traffic outside_;
  std::array<double, call_names.size()> seconds_{};
  std::array<Traffic, call_names.size()> traffic_{};
};

}  // namespace workloads::minife
