// SPDX-License-Identifier: BSD-3-Clause
// The MPI's TCP connections as a source of events.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

#include "core/event_source.hpp"
#include "wait/epoll.hpp"

namespace progress_engine {

// Connected TCP sockets of this process, as inode and descriptor; from /proc/self/fd.
struct Socket {
  int descriptor;
  ino_t inode;
};
std::vector<Socket> connected_tcp_sockets();

// Watches the TCP connections that were made after it was: create it before MPI_Init, and the launcher's and most of
// the program's own stay out of it.
class SocketEvents : public EventSource {
 public:
  SocketEvents();

  bool wait(Nanoseconds bound) override { return epoll_.wait(bound); }
  bool came_late() override;
  void remember() override;
  bool any() const override { return any_; }
  void add(int descriptor) override { epoll_.add(descriptor); }
  void refresh() override;
  void interrupt() override { epoll_.interrupt(); }

 private:
  EpollWait epoll_;
  std::set<ino_t> foreign_;
  bool any_ = false;
  std::set<int> sending_;  // descriptors that had data to send after the last poll
};

}  // namespace progress_engine
