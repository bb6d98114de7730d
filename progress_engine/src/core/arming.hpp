// SPDX-License-Identifier: BSD-3-Clause
// Whether polling pays for itself, decided from what it moved and took in this very run (Ruhela et al., EuroMPI 2018:
// progress when it is needed, fewest context switches).
//
// A phase lasts from the moment in which work appears to the one in which none is left. Its gain comes from those polls
// that moved something and after which the program went on to compute. Between nodes it is their own time, which the
// program's calls need not spend later, and the time since the poll before, in which the network worked beside the
// computation instead of after it; on one node it is their own time, and that only if there is a CPU to spare. Its
// price is the CPU time of the engine thread outside of all polls that moved something, and what its wakes disturb. An
// account of both that runs into debt disarms: the thread then leaves the program alone for a while, and tries again
// with a smaller debt allowed. Whiles double as long as no try gains. The account has a ceiling: a good past is
// forgotten.
#pragma once

#include <algorithm>

#include "core/clock.hpp"

namespace progress_engine {

class Arming {
 public:
  // What a wake costs the program beside the CPU time of the thread that wakes: evicted caches.
  static constexpr Nanoseconds disturbance = microseconds(5);

  Arming(Nanoseconds first_rest, Nanoseconds longest_rest)
      : first_rest_(first_rest), longest_rest_(longest_rest), rest_(first_rest) {}

  bool armed() const { return armed_; }
  // While disarmed: for how long.
  Nanoseconds rest() const { return rest_; }

  // The rest is over.
  void rested() {
    armed_ = true;
    account_ = -(debt - trial);
    rest_ = std::min(2 * rest_, longest_rest_);
  }

  void settle(Nanoseconds gain, Nanoseconds price) {
    account_ = std::min(account_ + gain - price, ceiling);
    if (account_ > 0) rest_ = first_rest_;
    if (account_ < -debt) armed_ = false;
  }

 private:
  // A wake for nothing costs some ten microseconds, a look for new sockets some fifty. A phase in which the program
  // waits at once gains nothing, whatever the next one does: no single one may decide.
  static constexpr Nanoseconds debt = microseconds(500);
  static constexpr Nanoseconds trial = microseconds(200);
  static constexpr Nanoseconds ceiling = microseconds(5000);

  Nanoseconds first_rest_;
  Nanoseconds longest_rest_;
  Nanoseconds rest_;
  Nanoseconds account_ = 0;
  bool armed_ = true;
};

}  // namespace progress_engine
