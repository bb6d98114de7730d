// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/moving_thread.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace workloads {
namespace {

// struct sched_attr of linux/sched/types.h, version 0: that header cannot be included beside <sched.h>.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

/// As the engine's threads: with the shortest slice that the kernel gives, a thread that wakes runs soon beside a
/// computation. Where the kernel knows no slices, nothing changes.
void schedule_in_short_slices() {
  constexpr std::uint64_t slice_ns = 100'000;
  SchedulingAttributes attributes;
  syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0);  // going below the inherited nice needs a privilege
  attributes.runtime = slice_ns;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  prctl(PR_SET_TIMERSLACK, 1UL);
}

void wait_until_ready(int socket, Direction direction) {
  pollfd waited{
      .fd = socket, .events = static_cast<short>(direction == Direction::sending ? POLLOUT : POLLIN), .revents = 0};
  poll(&waited, 1, -1);
}

}  // namespace

MovingThread::MovingThread(int socket, Direction direction, std::chrono::microseconds wake_interval)
    : socket_(socket), direction_(direction), wake_interval_(wake_interval), thread_([this] { run(); }) {}

MovingThread::~MovingThread() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  shutdown(socket_, SHUT_RDWR);
  thread_.join();
}

void MovingThread::start(std::span<std::byte> message) {
  {
    const std::scoped_lock lock(mutex_);
    helped_ = false;
    left_ = message;
    move();
    if (!has_work()) {
      return;
    }
  }
  changed_.notify_one();
}

void MovingThread::finish() {
  const std::scoped_lock lock(mutex_);
  helped_ = true;
  while (!left_.empty() && problem_.empty()) {
    move();
    if (!left_.empty() && problem_.empty()) {
      wait_until_ready(socket_, direction_);
    }
  }
  if (!problem_.empty()) {
    throw std::runtime_error("the connection of a pair broke: " + problem_);
  }
}

void MovingThread::run() {
  pthread_setname_np(pthread_self(), "tcp-moving");
  schedule_in_short_slices();
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (!has_work()) {
      changed_.wait(lock, [this] { return ending_ || has_work(); });
    } else if (const auto wake = last_move_ + wake_interval_; std::chrono::steady_clock::now() < wake) {
      changed_.wait_until(lock, wake, [this] { return ending_; });
    } else {
      const auto before = left_.size();
      move();
      if (has_work() && left_.size() == before) {
        lock.unlock();
        wait_until_ready(socket_, direction_);
        lock.lock();
      }
    }
  }
}

/// All that goes now, without waiting.
void MovingThread::move() {
  while (!left_.empty()) {
    // NOLINTBEGIN(clang-analyzer-unix.BlockInCriticalSection): MSG_DONTWAIT, it does not block
    const auto moved = direction_ == Direction::sending
                           ? send(socket_, left_.data(), left_.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                           : recv(socket_, left_.data(), left_.size(), MSG_DONTWAIT);
    // NOLINTEND(clang-analyzer-unix.BlockInCriticalSection)
    if (moved > 0) {
      left_ = left_.subspan(static_cast<std::size_t>(moved));
    } else if (moved == 0) {
      problem_ = "the other side has closed it";
      break;
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      problem_ = std::generic_category().message(errno);
      break;
    }
  }
  last_move_ = std::chrono::steady_clock::now();
}

}  // namespace workloads
