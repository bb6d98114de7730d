// SPDX-License-Identifier: BSD-3-Clause
// How long a program may start the operations of an exchange before the first of them is polled for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/activity.hpp"
#include "platform/platform.hpp"

namespace progress_engine {

// Who starts an exchange is in and out of MPI meanwhile, and packs a message between two of the calls. A poll in
// between may answer the partner before the program's own requests have left. The partner then sends its data first,
// and over one connection what it answers to those requests waits behind all of it: the two directions go one after the
// other.
//
// How long a program packs shows by polls that came too early: soon after such a poll the program starts a message,
// before it has completed all that the poll found. Then the next polls come later. Who starts all at once and then
// computes is soon answered as early as before.
//
// Used by the engine's thread alone. Times in nanoseconds of now().
class Settling {
 public:
  static constexpr Nanoseconds shortest = microseconds(50);  // many times what a call takes
  static constexpr Nanoseconds longest = microseconds(500);  // who is outside MPI for longer computes

  struct Operations {
    std::uint64_t started = 0;
    std::uint64_t messages = 0;  // of them, long and point to point
    std::int64_t pending = 0;
  };
  static Operations of(const Activity& activity) {
    return {activity.started(), activity.long_messages(), activity.pending()};
  }

  // For so long the program has started and completed nothing before it is polled for.
  Nanoseconds time() const { return time_; }

  // The first poll after the program's last call found these, and moved something.
  void polled(const Operations& found, Nanoseconds now) {
    found_ = found;
    polled_ = now;
  }

  // At each later look. `called`: when the program's first call after that poll ended; 0: none has yet.
  void looked(const Operations& found, Nanoseconds called, Nanoseconds now) {
    if (polled_ == never || (called == 0 && now - polled_ < longest)) return;
    const auto more = static_cast<std::int64_t>(found.started - found_.started);
    const bool computes = called == 0 || called - polled_ >= longest;
    if (computes)
      time_ = std::max(shortest, time_ - time_ / remembered);
    else if (found.messages > found_.messages && found.pending > more)
      time_ = std::min(longest, 2 * time_);
    polled_ = never;
  }

 private:
  static constexpr Nanoseconds never = -1;
  static constexpr Nanoseconds remembered = 32;  // exchanges, about
  Nanoseconds time_ = shortest;
  Operations found_;
  Nanoseconds polled_ = never;
};

}  // namespace progress_engine
