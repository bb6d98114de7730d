// SPDX-License-Identifier: BSD-3-Clause
// What every benchmark of overlap records in a repetition; metrics are made of it elsewhere.
#pragma once

#include <span>
#include <string_view>

#include "common/thread_usage.h"

namespace workloads {

/// A computation beside a communication. Seconds.
struct ComputationTimes {
  double elapsed_s = 0;  ///< the section from its first to its last instruction, tests included
  double test_s = 0;     ///< in MPI_Test
};

/// Seconds.
struct OverlapSample {
  double total_s = 0;  ///< start, computation, completion on all sides
  double comm_s = 0;   ///< the same without computation
  double comp_s = 0;   ///< the computation alone
  ComputationTimes inside;
  double post_s = 0;
  double wait_s = 0;
  double ack_s = 0;  ///< of what closes total_s and comm_s, alone
  Usage usage;       ///< during total_s

  static constexpr std::size_t quantities_count = 13;
  static std::span<const std::string_view> quantities();
  /// In the order of quantities().
  void write(std::span<double> values) const;
};

}  // namespace workloads
