// SPDX-License-Identifier: BSD-3-Clause
// Progress functions, and how they are polled: in bursts, until several polls in a row move nothing (one poll a wake is
// not enough, openucx/ucx#4036).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/breakable.hpp"
#include "platform/platform.hpp"
#include "wait/fabrics.hpp"

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
  std::uint64_t steps = 0;  // that a fabric's library says they took, where one does
  bool awaited = false;     // by a neighbour, which rang before it sent what it waits for
  bool armed = true;        // what comes after it is announced, as far as anything is
};

// Whatever makes communication progress. Used by one thread at a time.
class ProgressFunction {
 public:
  ProgressFunction() = default;
  virtual ~ProgressFunction() = default;
  ProgressFunction(const ProgressFunction&) = delete;
  ProgressFunction& operator=(const ProgressFunction&) = delete;
  virtual void poll() = 0;
  // What a burst did, and how many operations the program has completed so far: one that never moves anything can
  // tell by them.
  virtual void after_burst(const BurstResult& /*result*/, std::uint64_t /*completed*/) {}
};

// What a burst's polls took by a fabric's library. One that says so of each poll, the last one too, says nothing.
class FabricSteps {
 public:
  // After a poll; `shows`: its time shows that it was productive.
  void polled(bool shows) {
    moved_ = fabric_steps != seen_;
    seen_ = fabric_steps;
    if (moved_ && !shows) ++hidden_;
  }
  void tell(BurstResult& result) const {
    if (moved_) return;
    result.steps = seen_ - begin_;
    result.productive += hidden_;
  }

 private:
  const std::uint64_t begin_ = fabric_steps;
  std::uint64_t seen_ = begin_;
  std::uint64_t hidden_ = 0;  // polls whose time showed nothing
  bool moved_ = false;        // the last one
};

// Ends when `idle_polls` polls in a row moved nothing, or between two polls when `go_on()` no longer holds. `clock` is
// another one than now() in tests.
template <typename GoOn, typename Clock = Nanoseconds (*)()>
BurstResult run_burst(ProgressFunction& progress, PollJudge& judge, int idle_polls, GoOn&& go_on, Clock&& clock = now) {
  BurstResult result;
  FabricSteps steps;
  for (int idle = 0; idle < idle_polls && (go_on() || broken("burst-end"));) {
    const Nanoseconds start = clock();
    progress.poll();
    const Nanoseconds duration = clock() - start;
    ++result.polls;
    const bool shows = judge.productive(duration, result.polls == 1);
    steps.polled(shows);
    if (!shows) {
      ++idle;
      result.idle_time += duration;
      continue;
    }
    idle = 0;
    ++result.productive;
    result.productive_time += duration;
  }
  steps.tell(result);
  return result;
}

// ---- Several ways to make an MPI progress, best first, of which one is used: the next one when the present one moves
// nothing. Knows no MPI.

class NamedProgressFunction : public ProgressFunction {
 public:
  virtual std::string name() const = 0;
};

// A self-test at start would prove nothing: messages to oneself take paths of their own. So the program's operations
// tell: if they complete although polls, many of them, never moved a thing, the polls are not what moves them.
class SwitchingProgressFunction : public NamedProgressFunction {
 public:
  static constexpr std::uint64_t most_idle_polls = 4096;           // polls in a row that moved nothing
  static constexpr std::uint64_t evidence = most_idle_polls / 16;  // operations completed meanwhile

  // At least one candidate.
  explicit SwitchingProgressFunction(std::vector<std::unique_ptr<NamedProgressFunction>> candidates)
      : candidates_(std::move(candidates)) {}

  void poll() override { candidates_[current_.load(std::memory_order_relaxed)]->poll(); }

  void after_burst(const BurstResult& result, std::uint64_t completed) override {
    if (result.productive > 0 || idle_polls_ == 0) {
      idle_polls_ = 0;
      completed_before_ = completed;
    }
    idle_polls_ += result.polls;
    if (idle_polls_ < most_idle_polls || completed - completed_before_ < evidence) return;
    idle_polls_ = 0;
    if (current_ + 1 < candidates_.size()) ++current_;
  }

  // Any thread.
  std::string name() const override { return candidates_[current_]->name(); }
  std::size_t switches() const { return current_; }
  std::vector<std::string> candidates() const {
    std::vector<std::string> names;
    names.reserve(candidates_.size());
    for (const auto& candidate : candidates_) names.push_back(candidate->name());
    return names;
  }

 private:
  std::vector<std::unique_ptr<NamedProgressFunction>> candidates_;
  std::atomic<std::size_t> current_{0};
  std::uint64_t idle_polls_ = 0;  // the poller's, as is the next
  std::uint64_t completed_before_ = 0;
};

}  // namespace progress_engine
