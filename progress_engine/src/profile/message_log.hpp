// SPDX-License-Identifier: BSD-3-Clause
// When each message's send and receive began, and which waits were for it: by that a wait for a partner that began late
// is told from one for a message that nobody moved, once the profiles of both processes are there (analysis/where.py).
//
// The n-th send from one rank to another with a tag is received by the n-th receive of the same there (MPI 4.1, section
// 3.5), which holds for a communicator; of two communicators of the same size with the same tags only the times mix. A
// receive from anyone, or with any tag, would have to be numbered by its status: a process that posts one tells nothing
// of its receives.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "platform/platform.hpp"
#include "profile/site_table.hpp"

namespace progress_engine::profile {

// A wait for a message, by the call that completed it; all times as now().
struct Wait {
  Operation operation;
  Message message;
  std::uint64_t call = 0;  // tells the calls of this process apart
  Nanoseconds begin = 0;
  Nanoseconds time = 0;   // of the whole call
  Nanoseconds share = 0;  // of that this message's
  Nanoseconds computed = 0;
};

// Bounded: messages that come when it is full are not known. Any thread.
class MessageLog {
 public:
  static constexpr std::size_t most_starts = std::size_t{1} << 18U;
  static constexpr std::size_t most_waits = std::size_t{1} << 16U;
  static constexpr Nanoseconds shortest_wait = microseconds(20);  // clocks of two nodes tell no less apart

  Message start(const Stream& stream, Nanoseconds at);
  void wait(const Wait& wait);
  std::uint64_t next_call();

  // `use(stream, starts)`, in the order in which Message counts streams
  template <typename Use>
  void for_each_stream(Use&& use) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& one : starts_) use(one.stream, one.times);
  }
  template <typename Use>
  void for_each_wait(Use&& use) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& wait : waits_) use(wait);
  }
  bool numbers_receives() const {
    const std::scoped_lock lock(mutex_);
    return !from_anyone_;
  }

 private:
  struct Starts {
    Stream stream;
    std::vector<Nanoseconds> times;
  };

  mutable std::mutex mutex_;
  std::map<Stream, std::int32_t> streams_;
  std::vector<Starts> starts_;
  std::vector<Wait> waits_;
  std::size_t number_ = 0;
  std::uint64_t calls_ = 0;
  bool from_anyone_ = false;
};

}  // namespace progress_engine::profile
