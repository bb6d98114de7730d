// SPDX-License-Identifier: BSD-3-Clause
// How processes of one program find one another's bell on a node, without a collective call and without leaving
// anything behind, however they end.
//
// Each one's bell lies in an anonymous file (memfd_create(2)), and a socket with an abstract name (unix(7)) tells the
// others where: the kernel forgets both with the process. Abstract names belong to a network namespace, so that virtual
// nodes on one kernel do not see each other. Nothing here is secret, and a ring from a stranger costs one wake.
#pragma once

#include <string>
#include <vector>

#include "core/bell.hpp"

namespace progress_engine {

// A mapped page that holds a bell; unmapped with the object.
class MappedBell {
 public:
  MappedBell() = default;
  // Maps the page at the beginning of `descriptor`; `fresh`: makes the bell there. Empty if it is none.
  MappedBell(int descriptor, bool fresh);
  ~MappedBell();
  MappedBell(MappedBell&& other) noexcept;
  MappedBell& operator=(MappedBell&&) = delete;
  explicit operator bool() const { return page_ != nullptr; }
  Bell& bell() const;

 private:
  void* page_ = nullptr;
};

// This process's bell and its name. While its owner sleeps in poll(2) or epoll(7), a datagram to the name wakes it.
class PublishedBell {
 public:
  // `program`: the same for all processes of a program, else different; `rank`: in it. Throws std::system_error.
  PublishedBell(const std::string& program, int rank);
  ~PublishedBell();
  PublishedBell(const PublishedBell&) = delete;
  PublishedBell& operator=(const PublishedBell&) = delete;

  Bell& bell() const { return page_.bell(); }
  // Becomes readable with a datagram; drain() before the next wait.
  int descriptor() const { return socket_; }
  void drain() const;
  // Ends the sleep of the one who has published `name`.
  void wake(const std::string& name) const;

 private:
  int file_;
  int socket_ = -1;
  MappedBell page_;
};

struct Neighbour {
  int rank;
  std::string name;  // abstract, without the leading NUL
};
// All that are published for `program` in this network namespace, this process too. Some ten microseconds and more.
std::vector<Neighbour> find_neighbours(const std::string& program);
// The bell behind `name`, empty if there is none or it cannot be reached (another user, another namespace of
// processes).
MappedBell map_bell(const std::string& name);

}  // namespace progress_engine
