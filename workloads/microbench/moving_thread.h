// SPDX-License-Identifier: BSD-3-Clause
// One thread on the core of the computation that moves messages over a stream socket: what is left of a progress engine
// when nothing but the moving is in it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "common/noncopyable.h"

namespace workloads {

enum class Direction : std::uint8_t { sending, receiving };

/// Moves one message after the other, always in the same direction. The thread may run where its maker may, asks the
/// scheduler for short slices, sleeps for at least the wake interval after each move, and then until the socket takes
/// or has bytes. start() and finish() are called by one thread, in turns.
class MovingThread : NonCopyable {
 public:
  /// `socket` stays the caller's, is connected, and outlives this. std::system_error if no thread can be made.
  MovingThread(int socket, Direction direction, std::chrono::microseconds wake_interval);
  /// Ends the connection: the thread may wait for it.
  ~MovingThread();

  /// Moves what the socket takes or has at once and leaves the rest to the thread. `message` stays until finish().
  void start(std::span<std::byte> message);

  /// Moves the rest itself: the computation is over, and nothing is gained by sleeping. std::runtime_error if the
  /// connection broke.
  void finish();

 private:
  void run();
  void move();
  [[nodiscard]] bool has_work() const noexcept { return !helped_ && !left_.empty() && problem_.empty(); }

  const int socket_;
  const Direction direction_;
  const std::chrono::microseconds wake_interval_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::span<std::byte> left_;
  std::chrono::steady_clock::time_point last_move_;
  std::string problem_;
  bool helped_ = false;  // the application waits, and moves the bytes itself
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace workloads
