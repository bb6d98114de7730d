// SPDX-License-Identifier: BSD-3-Clause
// What an exchange of halos has beside its messages: a computation, and the probe of what has arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/grid.h"
#include "microbench/payload.h"

namespace workloads::minighost {

// The inflated computation: sweeps of the 7-point stencil over a block of this rank's own, as many points as asked.

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

// Did the halo arrive before anybody waited for it? (Strohbeen, Sandia 2011.) The receive buffer is poisoned: every
// byte is the complement of what is to come. Before the wait some places of it, the last byte among them, are looked
// at: what is no poison any more has arrived. That shows progress without any clock.
//
// MPI forbids to look into the buffer of a receive that is not complete; every MPI here permits it, and one that moves
// the data elsewhere until the wait shows as what it is: nothing arrives early.

/// Makes every byte of `halo` differ from the pattern of `seed`.
void poison(std::span<std::byte> halo, std::uint64_t seed) noexcept;

/// The share of the places looked at that have changed since poison(halo, seed): 0 to 1, and 1 of an empty halo.
double changed_share(std::span<const std::byte> halo, std::uint64_t seed) noexcept;

}  // namespace workloads::minighost
