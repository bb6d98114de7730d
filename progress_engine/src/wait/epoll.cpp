// SPDX-License-Identifier: BSD-3-Clause
#include "wait/epoll.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace progress_engine {
namespace {

int checked(int descriptor, const char* what) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), what);
  return descriptor;
}

template <std::size_t size>
int wait_precisely(int epoll, std::array<epoll_event, size>& events, Nanoseconds bound) {
  const timespec limit = to_timespec(bound);
  static const bool precise = has_precise_epoll();
  if (precise) return static_cast<int>(syscall(SYS_epoll_pwait2, epoll, events.data(), size, &limit, nullptr, 0));
  return epoll_wait(epoll, events.data(), size, static_cast<int>((bound + microseconds(999)) / microseconds(1000)));
}

}  // namespace

bool has_precise_epoll() {
  const timespec zero{};
  epoll_event event{};
  return syscall(SYS_epoll_pwait2, -1, &event, 1, &zero, nullptr, 0) < 0 && errno != ENOSYS;
}

EpollWait::EpollWait()
    : epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll")),
      interrupt_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  // An edge as well: an interrupt ends one wait, not all that follow.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = interrupt_}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, interrupt_, &event);
}

EpollWait::~EpollWait() {
  close(interrupt_);
  close(epoll_);
}

bool EpollWait::add(int descriptor) {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.fd = descriptor}};
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

bool EpollWait::wait(Nanoseconds bound) {
  std::array<epoll_event, 64> events;
  const int count = wait_precisely(epoll_, events, bound);
  ready_.clear();
  for (int i = 0; i < count; ++i)
    if (const int descriptor = events[static_cast<std::size_t>(i)].data.fd; descriptor != interrupt_)
      ready_.push_back(descriptor);
  return !ready_.empty();
}

void EpollWait::interrupt() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(interrupt_, &one, sizeof one);  // cannot fail but by overflow: also awake
}

}  // namespace progress_engine
