// SPDX-License-Identifier: BSD-3-Clause
// Where a bell's partners are: the job's hosts, and on which of them a rank runs.
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "wakeup/bell.hpp"
#include "wakeup/host_list.hpp"

namespace progress_engine {
namespace {

constexpr int answers_a_turn = 64;
constexpr Nanoseconds longest_lookup = seconds(1) / 5;
// A rank that answers no question has no engine, or has not begun yet. All hosts are asked three times soon after
// each other, then ever more rarely: at that price whoever begins late is found.
constexpr int soon = 3;
constexpr Nanoseconds between_rounds = seconds(1) / 100;
constexpr int most_doublings = 6;

// The n-th nearest to `guess` among `size`, on both sides in turn.
std::size_t nth_nearest(std::size_t guess, std::size_t n, std::size_t size) {
  n %= size;
  const std::size_t distance = (n + 1) / 2;
  return n % 2 == 0 ? (guess + distance) % size : (guess + size - distance % size) % size;
}

}  // namespace

void Bell::look_for_hosts() {
  looked_for_hosts_ = now();
  by_files_ = by_files_ || hosts_.empty();
  if (by_files_) {
    const auto names = published_hosts(plan_.key_file, job_word_);
    auto hosts = apply_host_pattern(plan_.host_pattern, names);
    std::ranges::sort(hosts);
    const std::scoped_lock lock(mutex_);
    nobody_else_ = std::ranges::all_of(names, [here = host_name()](const auto& name) { return name == here; });
    if (hosts == hosts_) return;
    hosts_ = std::move(hosts);
    for (auto& [rank, partner] : partners_) partner.rounds = 0;  // it may be on the new ones
  }
  addresses_.assign(hosts_.size(), {});
  looked_up_.assign(hosts_.size(), false);
}

std::optional<sockaddr_in> Bell::address_of(std::size_t host) {
  if (!looked_up_[host]) {
    looked_up_[host] = true;
    addrinfo wanted{};
    wanted.ai_family = AF_INET;
    wanted.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    const Nanoseconds begin = now();
    if (getaddrinfo(hosts_[host].c_str(), nullptr, &wanted, &found) == 0 && found) {
      auto address = *reinterpret_cast<const sockaddr_in*>(found->ai_addr);
      address.sin_port = htons(port_);
      addresses_[host] = address;
      freeaddrinfo(found);
    }
    // The engine's thread does nothing else meanwhile.
    if (!plan_.asked_for && now() - begin > longest_lookup)
      refuse("looking up " + hosts_[host] + " takes too long; doorbell=udp does it all the same");
    else if (!by_files_ && std::ranges::find(looked_up_, false) == looked_up_.end() &&
             std::ranges::none_of(addresses_, [](const auto& address) { return address.has_value(); }))
      refuse("none of the job's hosts has an IPv4 address, " + hosts_.front() + " among them");
  }
  return addresses_[host];
}

// With the mutex held: the last question had its time.
bool Bell::may_be_asked(const Partner& partner) const {
  Nanoseconds pause = partner.rounds == 0 ? plan_.interval : between_rounds;
  if (partner.rounds >= soon && partner.questions == 0)
    pause = seconds(std::int64_t{1} << std::min(partner.rounds - soon, most_doublings));
  return now() - partner.rung >= pause;
}

// Rings `rank` on the hosts on which it may be, the likeliest first: ranks are mostly laid out in blocks.
void Bell::ask(int rank) {
  const std::size_t size = hosts_.size();
  if (size == 0) return;
  std::size_t begin = 0;
  std::uint64_t question = 0;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = partners_.find(rank);
    if (found == partners_.end()) return;  // forgotten meanwhile
    Partner& partner = found->second;
    if (!may_be_asked(partner)) return;
    partner.rung = now();
    partner.asked = question = ++sequence_;  // others ring meanwhile
    if (partner.first_asked == 0) partner.first_asked = question;
    partner.owed_again = false;
    begin = partner.questions;
    partner.questions += std::min(questions_at_once, size);
    if (partner.questions >= size) {
      partner.questions = 0;
      ++partner.rounds;
    }
  }
  const auto guess = static_cast<std::size_t>(rank) * size / static_cast<std::size_t>(plan_.size);
  for (std::size_t i = 0; i < std::min(questions_at_once, size) && rings(); ++i)
    if (const auto where = address_of(nth_nearest(guess, begin + i, size))) {
      const std::scoped_lock lock(mutex_);
      send(rank, *where, BellWord::ask, question);
    }
}

void Bell::hear_answers() {
  for (int i = 0; i < answers_a_turn; ++i) {
    std::array<std::byte, datagram_size + 1> bytes{};
    sockaddr_in from{};
    socklen_t length = sizeof from;
    ssize_t size = 0;
    {
      const std::scoped_lock lock(mutex_);  // stop() closes it, and the program may get its number
      if (state_ != State::rings || !socket_.is_ours()) return;
      size = recvfrom(socket_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from),
                      &length);
      if (size < 0 && errno != ECONNREFUSED) return;
    }
    const auto message = unseal(std::span(bytes).first(static_cast<std::size_t>(std::max<ssize_t>(size, 0))), key_);
    if (!message || message->word != BellWord::here || std::cmp_not_equal(message->target, plan_.rank)) continue;
    const std::scoped_lock lock(mutex_);
    if (std::cmp_equal(message->sender, plan_.rank)) heard_here_ = true;  // by the keeper of its own node
    const auto found = partners_.find(static_cast<int>(message->sender));
    if (found == partners_.end()) continue;
    Partner& partner = found->second;
    // To an earlier question it may answer late: its node is busy.
    if (partner.first_asked == 0 || message->sequence < partner.first_asked || message->sequence > partner.asked)
      continue;
    from.sin_port = htons(port_);
    partner.where = from;
    partner.first_asked = 0;            // answered: who plays it again from elsewhere turns no rings away
    partner.owed = partner.owed_again;  // the question rang it
  }
}

}  // namespace progress_engine
