// SPDX-License-Identifier: BSD-3-Clause
// Waiting for edges on a set of descriptors.
#pragma once

#include <vector>

#include "core/clock.hpp"

namespace progress_engine {

class EpollWait {
 public:
  EpollWait();  // throws std::system_error
  ~EpollWait();
  EpollWait(const EpollWait&) = delete;
  EpollWait& operator=(const EpollWait&) = delete;

  // Watches `descriptor` for edges; true if it was not watched before. The kernel forgets it when it is closed.
  bool add(int descriptor);
  // Sleeps until an edge, an interrupt or `bound`; true if there was an edge since the last call.
  bool wait(Nanoseconds bound);
  // The descriptors that the last wait() reported.
  const std::vector<int>& ready() const { return ready_; }
  // Ends a wait, from any thread, now or at its next call.
  void interrupt();

 private:
  int epoll_;
  int interrupt_;
  std::vector<int> ready_;
};

// False where the kernel has only millisecond timeouts (before Linux 5.11): waits then end up to 1 ms late.
bool has_precise_epoll();

}  // namespace progress_engine
