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
// How long a program packs shows by polls that came too early: after such a poll the program starts more, and has not
// completed yet all that the poll found. Then the next polls come later. Who starts all at once and then computes is
// soon answered as early as before.
//
// Used by the engine's thread alone. Times in nanoseconds of now().
class Settling {
 public:
  static constexpr Nanoseconds shortest = microseconds(50);   // many times what a call takes
  static constexpr Nanoseconds longest = microseconds(1000);  // who is outside MPI for longer computes

  struct Operations {
    std::uint64_t started = 0;
    std::int64_t pending = 0;

    bool operator==(const Operations&) const = default;
  };
  static Operations of(const Activity& activity) { return {activity.started(), activity.pending()}; }

  // For so long the program has started and completed nothing before it is polled for.
  Nanoseconds time() const { return time_; }

  // The first poll after the program's last call found these, and moved something.
  void polled(const Operations& found, Nanoseconds now) {
    found_ = found;
    polled_ = now;
  }

  // At each later look.
  void looked(const Operations& found, Nanoseconds now) {
    if (polled_ == never) return;
    const bool untouched = found == found_;
    if (untouched && now - polled_ < longest) return;  // too soon to say
    const auto more = static_cast<std::int64_t>(found.started - found_.started);
    if (untouched)
      time_ = std::max(shortest, time_ - time_ / remembered);
    else if (more > 0 && found.pending > more)
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
