// SPDX-License-Identifier: BSD-3-Clause
// How long a program may start the operations of an exchange before the first of them is polled for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "platform/platform.hpp"

namespace progress_engine {

// Who starts an exchange is in and out of MPI meanwhile, and packs a message between two of the calls. A poll in
// between may answer the partner before the program's own requests have left. The partner then sends its data first,
// and over one connection what it answers to those requests waits behind all of it: the two directions go one after the
// other.
//
// How long a program packs shows by polls that came too early: soon after such a poll more is pending than it found.
// Then the next ones come later. Who starts all at once and then computes is soon answered as early as before.
//
// Used by the engine's thread alone. Times in nanoseconds of now().
class Settling {
 public:
  static constexpr Nanoseconds shortest = microseconds(50);   // many times what a call takes
  static constexpr Nanoseconds longest = microseconds(1000);  // who is outside MPI for longer computes

  // For so long the program has started and completed nothing before it is polled for.
  Nanoseconds time() const { return time_; }

  // The first poll after the program's last call, which moved something, found so many operations pending.
  void polled(std::int64_t pending, Nanoseconds now) {
    pending_ = pending;
    polled_ = now;
  }

  // At each later look.
  void looked(std::int64_t pending, Nanoseconds now) {
    if (polled_ == never) return;
    if (pending > pending_)
      time_ = std::min(longest, 2 * time_);
    else if (pending == pending_ && now - polled_ < longest)
      return;  // too soon to say
    else if (pending == pending_)
      time_ = std::max(shortest, time_ - time_ / remembered);
    polled_ = never;
  }

 private:
  static constexpr Nanoseconds never = -1;
  static constexpr Nanoseconds remembered = 32;  // exchanges, about
  Nanoseconds time_ = shortest;
  std::int64_t pending_ = 0;
  Nanoseconds polled_ = never;
};

}  // namespace progress_engine
