// SPDX-License-Identifier: BSD-3-Clause
// A message to and fro between two threads of two ranks, checked: its first byte counts the trips, and all of it is
// compared after the last one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/parameters.h"
#include "microbench/payload.h"

namespace workloads {

struct PingPongSettings {
  int partner = 0;
  int tag = 0;
  std::size_t bytes = 1;
  bool first = false;        ///< this side sends first
  bool nonblocking = false;  ///< MPI_Isend and MPI_Irecv with MPI_Wait instead of MPI_Send and MPI_Recv
  double slowdown = 1.0;     ///< factor on every round trip, for testing that a regression is seen
};

/// One side of it, with its memory. Each object belongs to one thread at a time; several run side by side where MPI is
/// initialised with MPI_THREAD_MULTIPLE and their tags differ.
class PingPong {
 public:
  explicit PingPong(const PingPongSettings& settings);

  /// `trips` round trips behind a few that are not counted; appends half of each one's duration, seconds, to
  /// `latencies`. Returns what was wrong with the messages; empty if nothing. Both sides must ask for the same number.
  std::string run(int trips, std::vector<double>& latencies);

  // What run() is made of, for those who mix several.
  void begin();
  void round_trip();
  [[nodiscard]] std::string verify();

  /// How many round trips run() does not count.
  static constexpr int lead_in(int trips) { return 1 + (trips / 100); }

 private:
  void send();
  void receive();

  PingPongSettings settings_;
  Payload out_;
  Payload in_;
  std::uint64_t seed_ = 0;
  std::uint8_t trip_ = 0;
  std::uint64_t mismatches_ = 0;
};

/// "round_trips": how many a repetition makes.
Parameter round_trips_parameter(std::int64_t default_value);

/// The median of the last `count` values, for the convergence of a benchmark that measures a distribution.
double median_of_last(const std::vector<double>& values, std::size_t count);

}  // namespace workloads
