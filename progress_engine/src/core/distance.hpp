// SPDX-License-Identifier: BSD-3-Clause
// The distance between two wakes. No fixed value is right: too short and each wake moves little for its price, too long
// and the network runs dry between wakes.
#pragma once

#include <algorithm>

#include "core/clock.hpp"

namespace progress_engine {

class WakeDistance {
 public:
  WakeDistance(Nanoseconds minimum, Nanoseconds maximum) : minimum_(minimum), maximum_(maximum), current_(minimum) {}

  Nanoseconds current() const { return current_; }
  // A new phase begins: nothing is known about it.
  void reset() { current_ = minimum_; }
  // What a wake spent in polls that moved something.
  void after_wake(Nanoseconds productive_time) {
    if (productive_time > 0) current_ = std::min(maximum_, current_ + current_ / 2);
  }

 private:
  Nanoseconds minimum_;
  Nanoseconds maximum_;
  Nanoseconds current_;
};

}  // namespace progress_engine
