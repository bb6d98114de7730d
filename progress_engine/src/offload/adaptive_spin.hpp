// SPDX-License-Identifier: BSD-3-Clause
// How the communication thread spins where the program's threads have no other CPU than its own.
#pragma once

#include <sched.h>

#include "platform/platform.hpp"

namespace progress_engine::offload {

// Spinning is worth it while the others only wait for messages: they get their turn at each pass, and come back soon. A
// thread that computes does not: it keeps the CPU for a whole slice of the scheduler. Beside one it is better to sleep
// and to be woken by traffic, which the scheduler answers at once, until a sleep finds the CPU idle.
class AdaptiveSpin {
 public:
  bool may_spin() const { return !somebody_computes_; }

  // One turn for the others. `work_left()`: whether they left something to do.
  template <typename WorkLeft>
  void let_others_run(WorkLeft&& work_left) {
    const Nanoseconds begin = now();
    sched_yield();
    somebody_computes_ = now() - begin > turn_of_one_who_computes && !work_left();
  }

  // After a sleep of that length, in which the process used that much CPU time.
  void slept(Nanoseconds length, Nanoseconds used) {
    if (2 * used < length) somebody_computes_ = false;
  }

 private:
  static constexpr Nanoseconds turn_of_one_who_computes = microseconds(200);
  bool somebody_computes_ = false;
};

}  // namespace progress_engine::offload
