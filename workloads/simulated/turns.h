// SPDX-License-Identifier: BSD-3-Clause
// Programs and busy threads by turns on their cores: who has a core when.
#pragma once

#include "model.h"

namespace simulated {

/// Of a rank whose MPI hands every message over to a thread of its own. Each on a core has it for a slice, one behind
/// the other: first the program, then the threads.
class Turns {
 public:
  /// Of `rank` among `ranks`. The model's slice must be more than 0.
  Turns(const AsyncThread& async, int rank, int ranks);

  /// From `time` on, the first at which the program has its core.
  [[nodiscard]] Seconds program_at(Seconds time) const { return at(time, beside_, 0); }
  /// From `time` on, the first at which the thread has its core.
  [[nodiscard]] Seconds thread_at(Seconds time) const { return at(time, beside_thread_, place_); }
  /// When a computation of `work` is over that begins at `from`.
  [[nodiscard]] Seconds computed(Seconds from, Seconds work) const;

 private:
  [[nodiscard]] Seconds at(Seconds time, int others, int place) const;

  Seconds slice_;
  int beside_;             // threads on the program's core
  int beside_thread_ = 1;  // threads on the core where this rank's is, itself among them, beside a program
  int place_ = 1;          // of the thread among these, 1 the first
};

/// How many busy threads of the MPI's are on the core of `rank` among `ranks`.
int threads_beside(const AsyncThread& async, int rank, int ranks);

}  // namespace simulated
