// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/clock.hpp"

namespace progress_engine {

// Something that announces traffic. All but interrupt() is called by one thread.
class EventSource {
 public:
  EventSource() = default;
  virtual ~EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  // Sleeps until traffic, an interrupt or `bound`. True if there was traffic since the last call.
  virtual bool wait(Nanoseconds bound) = 0;
  // Before a poll: true if traffic stood still since the last wake for want of polling (a buffer ran full or dry).
  virtual bool came_late() = 0;
  // After a poll: remembers what the next came_late() compares with.
  virtual void remember() = 0;
  // Whether there are places where traffic can show.
  virtual bool any() const = 0;
  // Watches `descriptor`, too: its edges are traffic like the others.
  virtual void add(int descriptor) = 0;
  // Looks for new places where traffic can show.
  virtual void refresh() = 0;
  // Ends a wait() that runs or is about to; from any thread.
  virtual void interrupt() = 0;
};

}  // namespace progress_engine
