// SPDX-License-Identifier: BSD-3-Clause
// A TCP connection between two processes that can tell each other one line of text. Buffers keep the kernel's own
// sizes: it lets them grow with the connection, further than a program without privileges may ask for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace workloads {

/// Owns a file descriptor.
class Socket {
 public:
  explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) = delete;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// Where a process listens: its host, the host's other addresses, its port, and a number that only its partner knows.
struct Offer {
  std::string host;
  std::uint16_t port = 0;
  std::uint64_t secret = 0;
  std::vector<std::string> addresses;  ///< IPv4, of the interfaces that are up, without the loopback

  [[nodiscard]] std::string text() const;
  static Offer from_text(const std::string& text);
};

class Listener {
 public:
  /// On all IPv4 addresses of this host, at a port that the kernel chooses. std::system_error if that cannot be.
  explicit Listener(const std::string& host);

  [[nodiscard]] const Offer& offer() const noexcept { return offer_; }

  /// The connection of whoever knows the secret. std::runtime_error after 30 s without one.
  [[nodiscard]] Socket accept() const;

 private:
  Socket socket_;
  Offer offer_;
};

/// Connects by the host's name, as MPI's own launchers do, then by its addresses in turn; on `own_host` by the
/// loopback. std::runtime_error where none of them answers.
Socket connect_to(const Offer& offer, const std::string& own_host);

}  // namespace workloads
