// SPDX-License-Identifier: BSD-3-Clause
// Two ranks that talk: i sends, i + n/2 receives, for all i < n/2 at the same time.
#pragma once

#include <string_view>

#include "common/mpi_process.h"

namespace workloads {

/// UsageError unless the number of ranks is even. For any point: a Benchmark's `check`.
void check_pairs(const Json& point, int ranks);

/// This rank's side of its pair. All functions are collective over the pair and, through `synchronise`, over all pairs.
class Pair {
 public:
  /// Measures the latency to the partner.
  explicit Pair(const MpiProcess& mpi);

  [[nodiscard]] bool is_sender() const noexcept { return sender_; }
  [[nodiscard]] int partner() const noexcept { return partner_; }
  [[nodiscard]] std::string_view role() const noexcept { return sender_ ? "sender" : "receiver"; }

  /// Both sides leave at the same time, to within the latency's jitter: the receiver says that it is ready, the sender
  /// says go and waits for as long as that word travels. A barrier lets one side leave a latency before the other.
  void synchronise() const;

  /// The receiver's word that it is complete: a zero-byte message.
  void send_acknowledgement() const;
  void await_acknowledgement() const;

  /// Half a round trip of a zero-byte message, seconds. Both sides measure one of their own.
  [[nodiscard]] double measure_latency() const;

 private:
  void send_empty(int tag) const;
  void receive_empty(int tag) const;
  double half_round_trip() const;
  void answer_round_trip() const;

  int ranks_;
  int partner_;
  bool sender_;
  double latency_s_ = 0;
};

}  // namespace workloads
