// SPDX-License-Identifier: BSD-3-Clause
// The inflated computation: sweeps of the 7-point stencil over a block of this rank's own, as many points as asked.
#pragma once

#include <cstdint>
#include <vector>

#include "grid/box.h"

namespace workloads::minighost {

inline constexpr int default_edge = 64;

/// Fixed work, about 1 us a unit. Not for several threads at once.
class Inflation {
 public:
  /// A block of edge x edge x edge points. std::bad_alloc.
  explicit Inflation(int edge);

  /// Exactly `units` times about 1,000 points: whole rows. No system call, no clock, no MPI.
  void run(std::uint64_t units) noexcept;

  /// The mean of the block, which the sweeps move towards the ghosts' value.
  [[nodiscard]] double mean() const noexcept;

 private:
  void sweep_row() noexcept;

  Layout layout_;
  int rows_a_unit_;
  int row_ = 0;  ///< the next one, of edge x edge
  std::vector<double> in_;
  std::vector<double> out_;
};

}  // namespace workloads::minighost
