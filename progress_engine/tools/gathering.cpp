// SPDX-License-Identifier: BSD-3-Clause
#include "gathering.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <functional>
#include <set>
#include <utility>

namespace progress_engine {
namespace {

// In no file system, so that a path that is too long, or a folder that is full, is no matter.
struct Address {
  explicit Address(const std::string& key) {
    const auto name = fmt::format("progress-engine-{}-{:x}", geteuid(), std::hash<std::string>{}(key));
    std::memcpy(&to.sun_path[1], name.data(), name.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&to); }

  sockaddr_un to{.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t size = 0;
};

// Somebody else's process may have taken the name.
bool is_ours(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

bool say(int connection, const std::string& words) {
  for (std::size_t sent = 0; sent < words.size();) {
    const auto more = send(connection, words.data() + sent, words.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) return false;
    sent += static_cast<std::size_t>(more);
  }
  return true;
}

// Up to the first end of a line; -1 if no number is there.
int rank_of(int connection) {
  std::string line;
  for (char next = 0; recv(connection, &next, 1, 0) == 1 && next != '\n';) line += next;
  int rank = -1;
  std::from_chars(line.data(), line.data() + line.size(), rank);
  return rank;
}

// To the other one's end, or what is there.
std::string rest_of(int connection, bool waits) {
  std::string words;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = recv(connection, part.data(), part.size(), waits ? 0 : MSG_DONTWAIT)) > 0;)
    words.append(part.data(), static_cast<std::size_t>(got));
  return words;
}

}  // namespace

Gathering::Gathering(std::string key, int rank) : key_(std::move(key)), rank_(rank) {
  if (rank >= 0) join();
}

Gathering::~Gathering() { leave(); }

void Gathering::leave() {
  if (socket_ >= 0) close(std::exchange(socket_, -1));
}

// As the one that hears, or else with the one that does; one of another user's leaves us alone.
void Gathering::join() {
  const Address address(key_);
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  hears_ = bind(socket_, address.get(), address.size) == 0 && listen(socket_, SOMAXCONN) == 0;
  if (hears_) return;
  const bool joined = connect(socket_, address.get(), address.size) == 0 && is_ours(socket_);
  if (joined && say(socket_, fmt::format("{}\n", rank_))) return;
  leave();
  hears_ = true;
}

// Whom this one told may have heard enough, being of an earlier program of the same ranks.
void Gathering::tell(const std::string& words) {
  const bool told = say(socket_, words);
  leave();
  if (told) return;
  join();
  if (hears_) return;
  say(socket_, words);
  leave();
}

std::vector<Gathering::Heard> Gathering::hear(bool waits) {
  if (socket_ < 0) return {};
  fcntl(socket_, F_SETFL, O_NONBLOCK);
  std::set<int> ranks{rank_};
  std::vector<std::pair<int, int>> others;  // rank, connection
  for (int connection = 0; (connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
    const int rank = is_ours(connection) ? rank_of(connection) : -1;
    if (rank >= 0 && ranks.insert(rank).second) {
      others.emplace_back(rank, connection);
      continue;
    }
    close(connection);
    if (rank >= 0) break;  // of a program that comes after this one, as do all behind it
  }
  leave();
  std::vector<Heard> heard;
  for (const auto& [rank, connection] : others) {
    heard.push_back({rank, rest_of(connection, waits)});
    close(connection);
  }
  return heard;
}

}  // namespace progress_engine
