// SPDX-License-Identifier: BSD-3-Clause
#include "common/kernel_counters.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace workloads {
namespace {

std::optional<int> option(int socket, int name) {
  int value = 0;
  socklen_t length = sizeof(value);
  return getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 ? std::optional(value) : std::nullopt;
}

bool is_tcp_connection(int socket) {
  const auto domain = option(socket, SO_DOMAIN);
  const bool internet = domain == AF_INET || domain == AF_INET6;
  sockaddr_storage peer{};
  socklen_t length = sizeof(peer);
  return internet && option(socket, SO_PROTOCOL) == IPPROTO_TCP &&
         getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &length) == 0;
}

}  // namespace

Traffic& Traffic::operator+=(const Traffic& more) noexcept {
  packets_in += more.packets_in;
  packets_out += more.packets_out;
  bytes_in += more.bytes_in;
  bytes_out += more.bytes_out;
  return *this;
}

Traffic Traffic::operator-(const Traffic& before) const noexcept {
  // A connection that was closed in between must not become a huge number.
  const auto growth = [](std::uint64_t begin, std::uint64_t end) { return end - std::min(begin, end); };
  return {.packets_in = growth(before.packets_in, packets_in),
          .packets_out = growth(before.packets_out, packets_out),
          .bytes_in = growth(before.bytes_in, bytes_in),
          .bytes_out = growth(before.bytes_out, bytes_out)};
}

void TcpConnections::find() {
  sockets_.clear();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string name = entry.path().filename();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (is_tcp_connection(descriptor)) {
      sockets_.push_back(descriptor);
    }
  }
}

Traffic TcpConnections::read() const noexcept {
  Traffic sum;
  for (const int socket : sockets_) {
    tcp_info info{};
    socklen_t length = sizeof(info);
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0) {
      sum += {.packets_in = info.tcpi_segs_in,
              .packets_out = info.tcpi_segs_out,
              .bytes_in = info.tcpi_bytes_received,
              .bytes_out = info.tcpi_bytes_sent};
    }
  }
  return sum;
}

double parse_available_bytes(std::istream& text) {
  constexpr double kilobyte = 1024;
  for (std::string word; text >> word;) {
    if (double kilobytes = 0; word == "MemAvailable:" && text >> kilobytes) {
      return kilobytes * kilobyte;
    }
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace workloads
