// SPDX-License-Identifier: BSD-3-Clause
// For each message when its send and its receive began and were completed, and which waits were for it. Once the
// profiles of both processes are there, a wait for a partner that began late is told from one for a message that nobody
// moved, and one that the partner's progress could have ended from one that its own could (analysis/where.py).
//
// The n-th send from one rank to another with a tag is received by the n-th receive of the same there (MPI 4.1, section
// 3.5), which holds for a communicator; of two communicators of the same size with the same tags only the times mix. A
// receive from anyone, or with any tag, would have to be numbered by its status: a process that posts one tells nothing
// of its receives. The n-th collective operation of a communicator is the same on all its processes (section 6.12).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "platform/platform.hpp"
#include "profile/site_table.hpp"

namespace progress_engine::profile {

// When a process began to send or receive a message, and from when on a call of it waited for that; as now().
struct Life {
  Nanoseconds start = 0;
  Nanoseconds completing = 0;

  static constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::max();
};

// A wait in a call that completed an operation: for a message, if that is known. All times as now().
struct Wait {
  Operation operation;
  Message message{};
  std::uint64_t call = 0;  // tells the calls of this process apart
  Nanoseconds begin = 0;
  Nanoseconds time = 0;   // of the whole call
  Nanoseconds share = 0;  // of that this message's
  Nanoseconds computed = 0;
  const void* thread = nullptr;  // that waits
  Nanoseconds outside = 0;       // what it had passed outside of MPI by then; of that `computed` is the last part
};

// Bounded, and the more processes there are the less each keeps, since all are read together: messages that come when
// it is full are not known. Any thread.
class MessageLog {
 public:
  static constexpr std::size_t most_messages = std::size_t{1} << 17U;
  static constexpr std::size_t least_messages = std::size_t{1} << 11U;
  static constexpr std::size_t most_of_all = std::size_t{1} << 21U;
  static constexpr Nanoseconds shortest_wait = microseconds(20);  // clocks of two nodes tell no less apart

  // Before the first message; half as many waits are kept as messages.
  void is_one_of(std::size_t processes) {
    const std::scoped_lock lock(mutex_);
    most_ = std::clamp(most_of_all / std::max<std::size_t>(processes, 1), least_messages, most_messages);
  }
  // The next message of the stream, of a call that blocks; if it does not: is_pending, until `completing`.
  Message start(const Stream& stream, Nanoseconds at);
  void is_pending(const Messages& messages) { completing(messages, Life::never); }
  void completing(const Messages& messages, Nanoseconds at);
  // One that is cancelled may be received by the next receive: from there on the stream's numbers mean nothing.
  void cancelled(const Messages& messages);
  // Of the messages that it waits for each has an equal part of its share.
  void wait(Wait wait, const Messages& messages);
  std::uint64_t next_call();

  // `use(stream, messages)`, in the order in which Message counts streams; only those whose numbers mean something
  template <typename Use>
  void for_each_stream(Use&& use) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& one : known_) use(one.stream, std::span(one.messages).first(numbered(one)));
  }
  template <typename Use>
  void for_each_wait(Use&& use) const {
    const std::scoped_lock lock(mutex_);
    for (auto wait : waits_) {
      if (wait.message.stream >= 0 && wait.message.number >= numbered(known_[std::size_t(wait.message.stream)]))
        wait.message = {};
      use(wait);
    }
  }
  bool numbers_receives() const {
    const std::scoped_lock lock(mutex_);
    return !from_anyone_;
  }

 private:
  struct Known {
    Stream stream;
    std::vector<Life> messages;
    std::size_t end = std::numeric_limits<std::size_t>::max();  // that was cancelled
  };
  static std::size_t numbered(const Known& known) { return std::min(known.end, known.messages.size()); }

  mutable std::mutex mutex_;
  std::map<Stream, std::int32_t> streams_;
  std::vector<Known> known_;
  std::vector<Wait> waits_;
  std::size_t most_ = most_messages;
  std::size_t number_ = 0;
  std::uint64_t calls_ = 0;
  bool from_anyone_ = false;
};

}  // namespace progress_engine::profile
