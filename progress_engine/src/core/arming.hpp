// SPDX-License-Identifier: BSD-3-Clause
// Whether points=events polls at all.
#pragma once

#include <algorithm>

#include "platform/platform.hpp"

namespace progress_engine {

// Whether polling pays for itself, decided from what it moved and took in this very run (Ruhela et al., EuroMPI 2018:
// progress when it is needed, fewest context switches).
//
// A busy period lasts as long as there is work and no thread of the program is inside MPI. Its gain comes from those
// polls that moved something and after which the program went on to compute. Between nodes that is the time after a
// poll that was needed (see PollEffect), in which the network worked beside the computation instead of after it, and
// after those that move the rest of such a message. What the kernel takes in without a poll is won without one. (Where
// nothing announces traffic, no clock tells whether a poll moved something: an answer that starts a transfer without
// this CPU takes no longer than finding nothing. There each poll is taken to win a small share of the time that it
// watched over, which bounds what the polls may cost.) On one node it is the polls' own time, and that only if there is
// a CPU to spare. Its price are the engine thread's wakes and the polls that moved nothing. An account of both that
// runs into debt disarms: the thread then backs off, and tries again. The backoff grows as long as no try gains. The
// account has a ceiling: a good past is forgotten.
//
// What nobody polled for while it backed off is evidence, too. An account sees what a poll won, not what would have
// been lost without the engine: where its wakes alone make the program late enough to find a handshake itself, no poll
// is needed, and without the wakes each would be. So it looks, now and then, whether the network waits for a poll. If
// it does, the next debts may be larger.

class Arming {
 public:
  Arming(Nanoseconds first_backoff, Nanoseconds longest_backoff)
      : first_backoff_(first_backoff), longest_backoff_(longest_backoff), backoff_(first_backoff) {}

  bool armed() const { return armed_; }
  // While disarmed: for how long.
  Nanoseconds backoff() const { return backoff_; }

  // The backoff is over; `missed`: a poll was.
  void backoff_ended(bool missed = false) {
    armed_ = true;
    account_ = 0;
    const int growth = debt_ > debt ? 2 : 8;  // polls were missed lately: it tries again sooner
    backoff_ = missed ? first_backoff_ : std::min(growth * backoff_, longest_backoff_);
    debt_ = missed ? std::min(4 * debt_, largest_debt) : std::max(debt_ / 2, debt);
  }

  void settle(Nanoseconds gain, Nanoseconds price) {
    account_ = std::min(account_ + gain - price, ceiling);
    if (account_ > 0) backoff_ = first_backoff_;
    if (account_ < -debt_) armed_ = false;
  }

 private:
  // A wake for nothing costs some ten microseconds, a look for new sockets some fifty. A busy period in which the
  // program waits at once gains nothing, whatever the next one does: no single one may decide.
  static constexpr Nanoseconds debt = microseconds(500);
  static constexpr Nanoseconds largest_debt = 32 * debt;
  static constexpr Nanoseconds ceiling = microseconds(5000);

  Nanoseconds first_backoff_;
  Nanoseconds longest_backoff_;
  Nanoseconds backoff_;
  Nanoseconds account_ = 0;
  Nanoseconds debt_ = debt;  // at which it disarms
  bool armed_ = true;
};

}  // namespace progress_engine
