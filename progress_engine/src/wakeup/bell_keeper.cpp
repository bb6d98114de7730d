// SPDX-License-Identifier: BSD-3-Clause
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "platform/engine_thread.hpp"
#include "platform/scheduling.hpp"
#include "wakeup/bell.hpp"

namespace progress_engine {
namespace {

constexpr int burst = 64;  // wakes at once
constexpr Nanoseconds period = microseconds(1000);
constexpr std::size_t batch = 64;        // datagrams a wake
constexpr int queue_bytes = 256 * 1024;  // what is more the kernel drops
constexpr Nanoseconds longest_sleep = seconds(1);
constexpr int slice_us = 100;  // a ring is to be passed on at once, and takes some microseconds

}  // namespace

std::unique_ptr<BellKeeper> BellKeeper::try_to_keep(in_addr_t address, in_port_t port, const SipKey& key, int ranks,
                                                    RingHere ring_here) {
  OwnDescriptor made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
  setsockopt(made.number(), SOL_SOCKET, SO_RCVBUF, &queue_bytes, sizeof queue_bytes);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(port);
  here.sin_addr.s_addr = address;
  if (bind(made.number(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
    if (errno == EADDRINUSE) return nullptr;
    throw std::system_error(errno, std::generic_category(), "bind");
  }
  return std::unique_ptr<BellKeeper>(new BellKeeper(std::move(made), key, ranks, std::move(ring_here)));
}

// Without what ends its thread there is none.
BellKeeper::BellKeeper(OwnDescriptor socket, const SipKey& key, int ranks, RingHere ring_here)
    : socket_(std::move(socket)),
      end_(eventfd(0, EFD_CLOEXEC), "eventfd"),
      key_(key),
      ranks_(ranks),
      ring_here_(std::move(ring_here)),
      window_(static_cast<std::size_t>(ranks)) {
  thread_ = start_engine_thread("pe-bell", [this] { run(); });
}

BellKeeper::~BellKeeper() {
  if (end_.is_ours()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(end_.number(), &one, sizeof one);
  }
  pthread_join(thread_, nullptr);  // before its descriptors go
}

void BellKeeper::run() {
  schedule_this_thread({.slice_us = slice_us});
  WakeBudget budget(burst, period);
  while (await(budget.take(now()))) {
    wakes_.fetch_add(1, std::memory_order_relaxed);
    drain();
  }
}

// After the pause, until there is a datagram. False: it is over, or the program has closed the descriptors. Who sleeps
// at that moment cannot be woken by them any more: each sleep is bounded.
bool BellKeeper::await(Nanoseconds pause) const {
  std::array<pollfd, 2> descriptors{{{.fd = end_.number(), .events = POLLIN, .revents = 0},
                                     {.fd = socket_.number(), .events = POLLIN, .revents = 0}}};
  if (pause > 0) {
    const timespec limit = to_timespec(pause);
    ppoll(descriptors.data(), 1, &limit, nullptr);
  }
  const timespec limit = to_timespec(longest_sleep);
  while (are_ours()) {
    const int ready = ppoll(descriptors.data(), descriptors.size(), &limit, nullptr);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return descriptors[0].revents == 0 && are_ours();
  }
  return false;
}

void BellKeeper::drain() {
  // One byte more than a datagram has, so that a longer one shows.
  std::array<std::array<std::byte, datagram_size + 1>, batch> buffers{};
  std::array<sockaddr_in, batch> from{};
  std::array<iovec, batch> parts{};
  std::array<mmsghdr, batch> messages{};
  for (std::size_t i = 0; i < batch; ++i) {
    parts[i] = {.iov_base = buffers[i].data(), .iov_len = buffers[i].size()};
    messages[i].msg_hdr.msg_name = &from[i];
    messages[i].msg_hdr.msg_namelen = sizeof from[i];
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int count = recvmmsg(socket_.number(), messages.data(), batch, MSG_DONTWAIT, nullptr);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    handle(std::span(buffers[at]).first(std::min<std::size_t>(messages[at].msg_len, buffers[at].size())), from[at]);
  }
}

void BellKeeper::handle(std::span<const std::byte> bytes, const sockaddr_in& from) {
  const auto message = unseal(bytes, key_);
  const bool ours = message && message->word != BellWord::here && std::cmp_less(message->target, ranks_) &&
                    window_.takes(message->sender, message->sequence);
  const bool asks_for_itself = ours && message->sender == message->target;  // whether its node has a keeper
  if (!ours || (!asks_for_itself && !ring_here_(*message, from))) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (!asks_for_itself) taken_.fetch_add(1, std::memory_order_relaxed);
  if (message->word != BellWord::ask) return;
  const auto answer = seal({BellWord::here, message->target, message->sender, message->sequence}, key_);
  sendto(socket_.number(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
         reinterpret_cast<const sockaddr*>(&from), sizeof from);
}

}  // namespace progress_engine
