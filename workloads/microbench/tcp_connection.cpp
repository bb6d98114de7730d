// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/tcp_connection.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace workloads {
namespace {

constexpr int patience_ms = 30'000;
constexpr int attempt_s = 3;

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

/// Of all calls on it, also of connect().
void limit_time(int socket, int seconds) {
  const timeval limit{.tv_sec = seconds, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

Socket new_socket() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    fail("socket");
  }
  return Socket(descriptor);
}

/// The last bytes of a message do not wait for an answer to those before.
void send_at_once(const Socket& connection) {
  const int on = 1;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::vector<std::string> interface_addresses() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) {
    return {};
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(found, freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* entry = found; entry != nullptr; entry = entry->ifa_next) {
    const bool usable = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
    if (usable && entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET) {
      std::array<char, INET_ADDRSTRLEN> text{};
      inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr, text.data(), text.size());
      addresses.emplace_back(text.data());
    }
  }
  return addresses;
}

/// Of a name or of an address in digits.
std::optional<in_addr> resolve(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &wanted, &found) != 0) {
    return std::nullopt;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  return reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr;
}

std::optional<Socket> try_connect(const Offer& offer, const std::string& name) {
  const auto host = resolve(name);
  if (!host) {
    return std::nullopt;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(offer.port);
  address.sin_addr = *host;
  Socket connection = new_socket();
  limit_time(connection.get(), attempt_s);
  if (connect(connection.get(), generic(address), sizeof address) != 0 ||
      send(connection.get(), &offer.secret, sizeof offer.secret, MSG_NOSIGNAL) != sizeof offer.secret) {
    return std::nullopt;
  }
  std::uint64_t answer = 0;
  if (recv(connection.get(), &answer, sizeof answer, MSG_WAITALL) != sizeof answer || answer != offer.secret) {
    return std::nullopt;  // somebody else listens there
  }
  limit_time(connection.get(), 0);
  send_at_once(connection);
  return connection;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

std::string Offer::text() const { return fmt::format("{} {} {} {}", host, port, secret, fmt::join(addresses, " ")); }

Offer Offer::from_text(const std::string& text) {
  std::istringstream words(text);
  Offer offer;
  words >> offer.host >> offer.port >> offer.secret;
  for (std::string address; words >> address;) {
    offer.addresses.push_back(address);
  }
  return offer;
}

Listener::Listener(const std::string& host) : socket_(new_socket()) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof address;
  constexpr int waiting = 8;
  if (bind(socket_.get(), generic(address), length) != 0 || listen(socket_.get(), waiting) != 0 ||
      getsockname(socket_.get(), generic(address), &length) != 0) {
    fail("listen");
  }
  std::random_device random;
  const auto secret = (static_cast<std::uint64_t>(random()) << 32U) | random();
  offer_ = {.host = host, .port = ntohs(address.sin_port), .secret = secret, .addresses = interface_addresses()};
}

Socket Listener::accept() const {
  for (;;) {
    pollfd waited{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (poll(&waited, 1, patience_ms) <= 0) {
      throw std::runtime_error(
          fmt::format("no TCP connection came to {} within {} s", offer_.host, patience_ms / 1000));
    }
    Socket connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.get() < 0) {
      fail("accept");
    }
    limit_time(connection.get(), attempt_s);
    std::uint64_t said = 0;
    if (recv(connection.get(), &said, sizeof said, MSG_WAITALL) == sizeof said && said == offer_.secret &&
        send(connection.get(), &said, sizeof said, MSG_NOSIGNAL) == sizeof said) {
      limit_time(connection.get(), 0);
      send_at_once(connection);
      return connection;
    }
  }
}

Socket connect_to(const Offer& offer, const std::string& own_host) {
  std::vector<std::string> names{offer.host == own_host ? "127.0.0.1" : offer.host};
  names.insert(names.end(), offer.addresses.begin(), offer.addresses.end());
  for (const auto& name : names) {
    if (auto connection = try_connect(offer, name)) {
      return std::move(*connection);
    }
  }
  throw std::runtime_error(fmt::format("no TCP connection to {} at port {}: none of {} answers", offer.host, offer.port,
                                       fmt::join(names, ", ")));
}

}  // namespace workloads
