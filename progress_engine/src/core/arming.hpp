// SPDX-License-Identifier: BSD-3-Clause
// Whether polling pays for itself, decided from what it moved and took in this very run (Ruhela et al., EuroMPI 2018:
// progress when it is needed, fewest context switches).
//
// A phase lasts from the moment in which work appears to the one in which none is left. Its gain is the time of the
// polls that moved something: time that the program's own calls need not spend. Its price is the rest of the engine
// thread's CPU time. An account of both that runs into debt disarms: the thread then leaves the program alone for a
// while, which doubles as long as the one phase that it tries afterwards does not pay either. The account has a
// ceiling: a good past is forgotten.
#pragma once

#include <algorithm>

#include "core/clock.hpp"

namespace progress_engine {

class Arming {
 public:
  Arming(Nanoseconds first_rest, Nanoseconds longest_rest)
      : first_rest_(first_rest), longest_rest_(longest_rest), rest_(first_rest) {}

  bool armed() const { return state_ != State::disarmed; }
  // While disarmed: for how long.
  Nanoseconds rest() const { return rest_; }
  // The rest is over: the next phase is tried.
  void rested() { state_ = State::trying; }

  void phase_ended(Nanoseconds gain, Nanoseconds price) {
    if (state_ == State::trying) {
      const bool pays = gain >= price;
      state_ = pays ? State::armed : State::disarmed;
      rest_ = pays ? first_rest_ : std::min(2 * rest_, longest_rest_);
      account_ = 0;
      return;
    }
    account_ = std::min(account_ + gain - price, ceiling);
    if (account_ < -debt) state_ = State::disarmed;
  }

 private:
  enum class State { armed, disarmed, trying };
  // Some ten wakes for nothing, and some hundred.
  static constexpr Nanoseconds debt = microseconds(100);
  static constexpr Nanoseconds ceiling = microseconds(1000);

  Nanoseconds first_rest_;
  Nanoseconds longest_rest_;
  Nanoseconds rest_;
  Nanoseconds account_ = 0;
  State state_ = State::armed;
};

}  // namespace progress_engine
