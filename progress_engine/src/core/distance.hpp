// SPDX-License-Identifier: BSD-3-Clause
// The distance between two wakes. No fixed value is right: too short and each wake moves little for its price, too long
// and the network runs dry between wakes. The right one depends on the network's rate and on the sockets' buffers, so
// it is controlled: a wake should move so much that its own cost vanishes, and never find that it came too late.
#pragma once

#include <algorithm>

#include "core/clock.hpp"

namespace progress_engine {

struct WakeOutcome {
  Nanoseconds productive_time = 0;  // in polls that moved something
  Nanoseconds idle_time = 0;        // in polls that moved nothing: part of the wake's price
  bool late = false;                // traffic stood still for want of polling
};

class WakeDistance {
 public:
  WakeDistance(Nanoseconds minimum, Nanoseconds start, Nanoseconds maximum)
      : minimum_(minimum), start_(std::clamp(start, minimum, maximum)), maximum_(maximum), current_(start_) {}

  Nanoseconds current() const { return current_; }
  // A phase is over. The next one's first messages are often a handshake that nothing should delay; then what was
  // learnt holds again.
  void reset() {
    learnt_ = std::max(current_, start_);
    current_ = start_;
  }

  void after_wake(const WakeOutcome& wake) {
    price_ += (wake_price + wake.idle_time - price_) / 8;
    if (wake.late)
      learnt_ = current_ = std::max(minimum_, current_ / 2);
    else if (wake.productive_time > price_)  // less is a control message and says nothing about the rate
      approach(current_ * worth * price_ / wake.productive_time);
  }

 private:
  void approach(Nanoseconds wanted) {
    const Nanoseconds most = std::max(current_ * 3 / 2, learnt_);
    current_ = std::clamp(wanted, std::max(minimum_, current_ / 2), std::min(maximum_, most));
  }

  // Falling asleep and waking: two context switches, the timer, and what they evict from the caches.
  static constexpr Nanoseconds wake_price = microseconds(20);
  // How many times its price a wake should spend on moving data.
  static constexpr Nanoseconds worth = 16;

  Nanoseconds minimum_;
  Nanoseconds start_;
  Nanoseconds maximum_;
  Nanoseconds current_;
  Nanoseconds learnt_ = 0;  // of the last phase: it may be taken up again at once
  Nanoseconds price_ = wake_price;
};

}  // namespace progress_engine
