// SPDX-License-Identifier: BSD-3-Clause
// An event source without sockets: a communication thread sleeps on it until its bound or an interrupt.
#pragma once

#include "wait/event_source.hpp"

namespace progress_engine {

class NoTraffic : public EpollEvents {
 public:
  NoTraffic() : EpollEvents(Sockets::none) {}
  bool any() const override { return true; }
  bool carries() const override { return true; }
  PollEffect after_poll() override { return {.needed = true}; }
};

}  // namespace progress_engine
