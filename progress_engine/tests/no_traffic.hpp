// SPDX-License-Identifier: BSD-3-Clause
// An event source without sockets: a communication thread sleeps on it until its bound or an interrupt.
#pragma once

#include "core/event_source.hpp"
#include "wait/epoll.hpp"

namespace progress_engine {

class NoTraffic : public EventSource {
 public:
  bool wait(Nanoseconds bound) override { return epoll_.wait(bound); }
  bool came_late() override { return false; }
  void remember() override {}
  bool any() const override { return true; }
  void add(int descriptor) override { epoll_.add(descriptor); }
  void refresh() override {}
  void interrupt() override { epoll_.interrupt(); }

 private:
  EpollWait epoll_;
};

}  // namespace progress_engine
