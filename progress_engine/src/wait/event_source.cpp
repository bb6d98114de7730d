// SPDX-License-Identifier: BSD-3-Clause
#include "wait/event_source.hpp"

#include <dirent.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <ranges>
#include <utility>

namespace progress_engine {
namespace {

// ---- the MPI's sockets

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

// More than what launchers say to their processes after MPI_Init.
constexpr std::uint64_t traffic = 16384;

// Bytes that the connection has carried, both ways.
std::uint64_t carried_by(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_acked + info.tcpi_bytes_received;
}

// Bytes that were written into the connection, sent or not. None: it is closed, or the kernel (before Linux 4.19) does
// not say.
std::optional<std::uint64_t> written_into(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  if (size < offsetof(tcp_info, tcpi_bytes_retrans) + sizeof info.tcpi_bytes_retrans) return std::nullopt;
  return info.tcpi_bytes_sent - info.tcpi_bytes_retrans + info.tcpi_notsent_bytes;
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

struct Socket {
  int descriptor;
  ino_t inode;
};

// Connected TCP sockets of this process, from /proc/self/fd.
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

// ---- epoll

void count_one(std::atomic<std::uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

template <std::size_t size>
int wait_precisely(int epoll, std::array<epoll_event, size>& events, Nanoseconds bound) {
  const timespec limit = to_timespec(bound);
  static const bool precise = has_precise_epoll();
  if (precise) return static_cast<int>(syscall(SYS_epoll_pwait2, epoll, events.data(), size, &limit, nullptr, 0));
  return epoll_wait(epoll, events.data(), size, static_cast<int>((bound + microseconds(999)) / microseconds(1000)));
}

}  // namespace

bool has_precise_epoll() {
  const timespec zero{};
  epoll_event event{};
  // Only who has the call looks at the descriptor: filters of containers answer EPERM, and kernels without it ENOSYS.
  return syscall(SYS_epoll_pwait2, -1, &event, 1, &zero, nullptr, 0) < 0 && errno == EBADF;
}

EpollEvents::EpollEvents(Sockets sockets, Fabrics* fabrics)
    : sockets_(sockets),
      epoll_(epoll_create1(EPOLL_CLOEXEC), "epoll"),
      interrupt_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"),
      fabrics_(fabrics) {
  add(interrupt_.number(), EPOLLIN);
  if (sockets_ == Sockets::none) return;
  for (const auto& socket : connected_tcp_sockets()) foreign_.insert(socket.inode);
  writable_ = OwnDescriptor(epoll_create1(EPOLL_CLOEXEC), "epoll");
  control(EPOLL_CTL_ADD, writable_.number(), EPOLLIN);
}

// Whether the program has closed this one, and so, as daemons do, all that we have. For good.
bool EpollEvents::lost(const OwnDescriptor& descriptor) {
  if (!lost_ && !descriptor.is_ours()) lost_ = true;
  return lost_;
}

bool EpollEvents::control(int operation, int descriptor, unsigned events) {
  epoll_event event{.events = events, .data = {.fd = descriptor}};
  return !lost(epoll_) && epoll_ctl(epoll_.number(), operation, descriptor, &event) == 0;
}

// Edges: what is announced ends one wait, not all that follow until somebody has read it, which only the MPI may.
bool EpollEvents::add(int descriptor, unsigned events) {
  expected_.erase(descriptor);  // one of that number was closed
  return control(EPOLL_CTL_ADD, descriptor, events | EPOLLET);
}

bool EpollEvents::wait(Nanoseconds bound) {
  std::array<epoll_event, 64> events;
  const int count = lost(epoll_) ? -1 : wait_precisely(epoll_.number(), events, bound);
  if (count < 0 && (lost_ || errno != EINTR)) sleep_without(bound);
  ready_.clear();
  bool handled = false;
  PerFabric<bool> announced{};
  for (int i = 0; i < count; ++i) {
    const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
    if (descriptor == interrupt_.number()) continue;
    if (const auto handler = handlers_.find(descriptor); handler != handlers_.end()) {
      handler->second();
      handled = true;
    } else if (const auto armed = expected_.find(descriptor); armed != expected_.end()) {
      announced[index(armed->second)] = true;
    } else if (descriptor == writable_.number()) {
      find_writable();
    } else {
      found(descriptor);
    }
  }
  if (!ready_.empty()) count_one(by_sockets_);
  for (std::size_t i = 0; i < announced.size(); ++i)
    if (announced[i]) count_one(by_fabric_[i]);
  const bool by_a_fabric = std::ranges::find(announced, true) != announced.end();
  announced_ = announced_ || by_a_fabric;
  told_by_others_ = handled || by_a_fabric;
  return told_by_others_ || !ready_.empty();
}

void EpollEvents::found(int descriptor) {
  if (std::ranges::find(ready_, descriptor) == ready_.end()) ready_.push_back(descriptor);
  // A number that now is something else's has carried nothing.
  if (!carries_) carries_ = carried_by(descriptor) >= carried_before_[descriptor] + traffic;
}

void EpollEvents::find_writable() {
  std::array<epoll_event, 64> events;
  const int count = lost(writable_) ? 0 : epoll_wait(writable_.number(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) found(events[static_cast<std::size_t>(i)].data.fd);
}

ArmResult EpollEvents::arm(const std::function<bool()>& poll) {
  ArmResult result;
  if (!fabrics_ || !fabrics_->any()) return result;
  for (int i = 0; i < most_rounds; ++i) {
    ArmingRound round(*fabrics_);
    const Nanoseconds start = now();
    if (!poll()) break;
    ++result.polls;
    if (round.moved()) {
      ++result.productive;
      result.productive_time += now() - start;
    }
    if (round.again()) {
      if (round.busy()) count_one(busy_);
      continue;
    }
    for (const auto& object : round.armed()) expect(object);
    return result;
  }
  result.armed = false;
  return result;
}

// The program has closed our descriptors, as daemons do: nothing announces traffic any more, and a number of ours may
// be a file of its own by now. Time alone wakes then, often enough for whoever relies on an interrupt.
void EpollEvents::sleep_without(Nanoseconds bound) {
  lost_ = true;
  const timespec time = to_timespec(std::min(bound, longest_sleep_without));
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

// Levels: what a library has left behind its descriptor is still there when it is armed. Once: what the MPI polls no
// more, as a worker that only the program's windows use, would end every wait.
void EpollEvents::expect(const Fabrics::Object& object) {
  expected_.insert_or_assign(object.descriptor, object.fabric);
  count_one(armed_[index(object.fabric)]);
  constexpr unsigned events = EPOLLIN | EPOLLONESHOT;
  if (!control(EPOLL_CTL_MOD, object.descriptor, events)) control(EPOLL_CTL_ADD, object.descriptor, events);
}

EventCounts EpollEvents::counts() const {
  EventCounts counts{.by_sockets = by_sockets_, .by_fabric = {}, .armed = {}, .busy = busy_};
  std::ranges::copy(by_fabric_, counts.by_fabric.begin());
  std::ranges::copy(armed_, counts.armed.begin());
  return counts;
}

void EpollEvents::before_poll() {
  // What a peer has asked for since is no rest of what was sent.
  late_ = std::ranges::any_of(ready_, [this](int descriptor) {
    const bool ran_dry =
        sending_.contains(descriptor) && queued(descriptor, SIOCOUTQ) == 0 && queued(descriptor, SIOCINQ) == 0;
    return ran_dry || is_nearly_full(descriptor);
  });
  bulk_ = std::ranges::any_of(ready_, [](int descriptor) { return queued(descriptor, SIOCINQ) > largest_request; });
  // What the timer found has been announced by nobody.
  const auto is_small = [](int descriptor) { return queued(descriptor, SIOCINQ) <= largest_request; };
  small_ = !told_by_others_ && any_ &&
           (ready_.empty() ? watched_.size() <= most_asked && std::ranges::all_of(watched_, is_small)
                           : std::ranges::all_of(ready_, is_small));
  written_.clear();
  const auto ask = [this](int descriptor) {
    if (const auto written = written_into(descriptor)) written_.emplace(descriptor, *written);
  };
  if (watched_.size() <= most_asked)
    std::ranges::for_each(watched_, ask);
  else
    std::ranges::for_each(ready_, ask);
}

PollEffect EpollEvents::after_poll() {
  for (const int descriptor : ready_)
    if (queued(descriptor, SIOCOUTQ) > 0)
      sending_.insert(descriptor);
    else
      sending_.erase(descriptor);
  const bool unknown = told_by_others_ || (!ready_.empty() && written_.empty());
  bool wrote = false;
  bool wrote_little = !unknown;
  for (const auto& [descriptor, before] : written_) {
    const auto after = written_into(descriptor);
    wrote = wrote || after != before;
    wrote_little = wrote_little && after && *after - before <= largest_request;
  }
  return {.late = late_, .needed = late_ || wrote || unknown, .small = small_ && wrote_little, .bulk = bulk_};
}

std::optional<std::uint64_t> EpollEvents::unanswered() const {
  std::uint64_t arrived = 0;
  bool any = false;
  for (const int descriptor : watched_ | std::views::take(most_looked_at)) {
    const int unread = queued(descriptor, SIOCINQ);
    if (unread == 0 || (unread > largest_request && !is_nearly_full(descriptor))) continue;
    arrived += carried_by(descriptor);
    any = true;
  }
  return any ? std::optional(arrived) : std::nullopt;
}

void EpollEvents::watch(int descriptor, std::function<void()> handler) {
  handlers_.insert_or_assign(descriptor, std::move(handler));
  add(descriptor, EPOLLIN);
}

bool EpollEvents::refresh() {
  if (sockets_ == Sockets::none) return false;
  bool found = false;
  for (const auto& socket : connected_tcp_sockets()) {
    if (foreign_.contains(socket.inode) || !add(socket.descriptor, EPOLLIN)) continue;
    epoll_event event{.events = EPOLLOUT | EPOLLET, .data = {.fd = socket.descriptor}};
    if (!lost(writable_)) epoll_ctl(writable_.number(), EPOLL_CTL_ADD, socket.descriptor, &event);
    any_ = found = true;
    watched_.insert(socket.descriptor);
    if (!carries_) carried_before_.insert_or_assign(socket.descriptor, carried_by(socket.descriptor));
  }
  return found;
}

// A wait that began before the program closed them goes on to its bound.
void EpollEvents::interrupt() {
  if (lost(interrupt_)) return;
  const std::uint64_t one = 1;
  // Cannot fail but by overflow: also awake.
  [[maybe_unused]] const auto written = write(interrupt_.number(), &one, sizeof one);
}

}  // namespace progress_engine
