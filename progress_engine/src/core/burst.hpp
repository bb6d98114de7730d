// SPDX-License-Identifier: BSD-3-Clause
// Polls in a row until several of them move nothing: one poll a wake is not enough (openucx/ucx#4036).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/breakable.hpp"
#include "core/clock.hpp"

namespace progress_engine {

// No MPI says what a poll moved, but a poll that moves bytes takes longer than one that finds nothing. What "nothing"
// costs is learnt: the shortest of the last polls. It differs between MPIs and, within one, with what is pending, so
// that old polls must be forgotten soon: else a burst of polls that look productive and are not would never end.
class PollJudge {
 public:
  // `first`: of a burst. It finds cold caches, and takes some microseconds for nothing.
  bool productive(Nanoseconds duration, bool first = false) {
    if (++age_ == window) {
      older_ = newer_;
      newer_ = duration;
      age_ = 0;
    }
    newer_ = std::min(newer_, duration);
    return duration > 2 * std::min(older_, newer_) + (first ? cold_margin : margin);
  }

 private:
  // Reading a socket and finding a small message costs about that much; a poll that moves data costs far more.
  static constexpr Nanoseconds margin = microseconds(2);
  static constexpr Nanoseconds cold_margin = microseconds(8);
  static constexpr int window = 32;
  Nanoseconds older_ = std::numeric_limits<Nanoseconds>::max() / 4;
  Nanoseconds newer_ = std::numeric_limits<Nanoseconds>::max() / 4;
  int age_ = 0;
};

struct BurstResult {
  std::uint64_t polls = 0;
  std::uint64_t productive = 0;
  Nanoseconds productive_time = 0;
  Nanoseconds idle_time = 0;
};

// Whatever makes communication progress. Used by one thread at a time.
class Driver {
 public:
  Driver() = default;
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual void poll() = 0;
  // What a burst did, and how many operations the program has completed so far: a driver that never moves anything can
  // tell by them.
  virtual void after_burst(const BurstResult& /*result*/, std::uint64_t /*completed*/) {}
};

// Ends when `idle_polls` polls in a row moved nothing, or between two polls when `go_on()` no longer holds. `clock` is
// another one than now() in tests.
template <typename GoOn, typename Clock = Nanoseconds (*)()>
BurstResult run_burst(Driver& driver, PollJudge& judge, int idle_polls, GoOn&& go_on, Clock&& clock = now) {
  BurstResult result;
  for (int idle = 0; idle < idle_polls && (go_on() || broken("burst-end"));) {
    const Nanoseconds start = clock();
    driver.poll();
    const Nanoseconds duration = clock() - start;
    ++result.polls;
    if (!judge.productive(duration, result.polls == 1)) {
      ++idle;
      result.idle_time += duration;
      continue;
    }
    idle = 0;
    ++result.productive;
    result.productive_time += duration;
  }
  return result;
}

}  // namespace progress_engine
