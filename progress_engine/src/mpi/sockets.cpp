// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/sockets.hpp"

#include <dirent.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace progress_engine {
namespace {

int socket_option(int descriptor, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

// Listening sockets are no connections; sockets that still connect have no peer yet, but will.
bool is_tcp_connection(int descriptor) {
  const int domain = socket_option(descriptor, SO_DOMAIN);
  return (domain == AF_INET || domain == AF_INET6) && socket_option(descriptor, SO_TYPE) == SOCK_STREAM &&
         socket_option(descriptor, SO_ACCEPTCONN) == 0;
}

int queued(int descriptor, unsigned long direction) {
  int bytes = 0;
  return ioctl(descriptor, direction, &bytes) == 0 ? bytes : 0;
}

// The peer may send about half of the buffer (the kernel counts its own overhead in), and stops when that is filled.
bool is_nearly_full(int descriptor) {
  return queued(descriptor, SIOCINQ) > socket_option(descriptor, SO_RCVBUF) * 3 / 8;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

}  // namespace

std::vector<Socket> connected_tcp_sockets() {
  std::vector<Socket> sockets;
  const std::unique_ptr<DIR, CloseDirectory> directory(opendir("/proc/self/fd"));
  if (!directory) return sockets;
  while (const dirent* entry = readdir(directory.get())) {
    if (entry->d_name[0] == '.') continue;
    const int descriptor = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    struct stat status{};
    if (is_tcp_connection(descriptor) && fstat(descriptor, &status) == 0)
      sockets.push_back({descriptor, status.st_ino});
  }
  return sockets;
}

SocketEvents::SocketEvents() {
  for (const auto& socket : connected_tcp_sockets()) foreign_.insert(socket.inode);
}

bool SocketEvents::came_late() {
  return std::ranges::any_of(epoll_.ready(), [this](int descriptor) {
    const bool ran_dry = sending_.contains(descriptor) && queued(descriptor, SIOCOUTQ) == 0;
    return ran_dry || is_nearly_full(descriptor);
  });
}

void SocketEvents::remember() {
  for (const int descriptor : epoll_.ready())
    if (queued(descriptor, SIOCOUTQ) > 0)
      sending_.insert(descriptor);
    else
      sending_.erase(descriptor);
}

void SocketEvents::refresh() {
  for (const auto& socket : connected_tcp_sockets())
    if (!foreign_.contains(socket.inode)) any_ = epoll_.add(socket.descriptor) || any_;
}

}  // namespace progress_engine
