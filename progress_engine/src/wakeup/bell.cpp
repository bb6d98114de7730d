// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/bell.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "wakeup/hexadecimal.hpp"

namespace progress_engine {
namespace {

constexpr std::size_t most_partners = 1024;  // beyond them the timer does
// A turn or a poll sends no more, however many partners are owed a ring: each is a system call of a microsecond or two.
// The others' turn comes next.
constexpr std::size_t datagrams_at_once = 16;
constexpr std::size_t questions_at_once = 8;
constexpr std::size_t times_that_all_are_asked = 3;
constexpr int answers_a_turn = 64;
constexpr Nanoseconds of_late = seconds(1);
constexpr Nanoseconds between_tries_to_keep = seconds(1);
constexpr Nanoseconds between_looks_for_hosts = seconds(1) / 10;
constexpr Nanoseconds between_rounds = seconds(1) / 100;
constexpr Nanoseconds longest_lookup = seconds(1) / 5;

// Below those that the kernel gives to whoever asks for none, and above the well-known ones.
constexpr std::uint64_t first_port = 20000;
constexpr std::uint64_t ports = 12000;

std::uint64_t wall_clock_us() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>((seconds(time.tv_sec) + time.tv_nsec) / 1000);
}

// The n-th nearest to `guess` among `size`, on both sides in turn.
std::size_t nth_nearest(std::size_t guess, std::size_t n, std::size_t size) {
  n %= size;
  const std::size_t distance = (n + 1) / 2;
  return n % 2 == 0 ? (guess + distance) % size : (guess + size - distance % size) % size;
}

}  // namespace

Bell::Bell(BellPlan plan, std::function<bool(int)> ring_here)
    : plan_(std::move(plan)), ring_here_(std::move(ring_here)), sequence_(wall_clock_us()) {}

Bell::~Bell() { stop(); }

// ---- partners, with the mutex held

Bell::Partner* Bell::partner_of(int rank) {
  if (rank < 0 || rank >= plan_.size || rank == plan_.rank) return nullptr;
  const auto found = partners_.find(rank);
  if (found != partners_.end()) return &found->second;
  if (partners_.size() >= most_partners) {
    ++bounded_;
    return nullptr;
  }
  order_.push_back(rank);
  return &partners_[rank];
}

bool Bell::send(int rank, const sockaddr_in& where, BellWord word, std::uint64_t sequence) {
  if (state_ != State::rings) return false;
  const auto datagram =
      seal({word, static_cast<std::uint32_t>(plan_.rank), static_cast<std::uint32_t>(rank), sequence}, key_);
  ++sent_;
  return sendto(socket_, datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                reinterpret_cast<const sockaddr*>(&where), sizeof where) >= 0;
}

bool Bell::send_if_due(int rank, Partner& partner) {
  const Nanoseconds time = now();
  if (!partner.where || time - partner.rung < plan_.interval) return false;
  partner.rung = time;
  partner.owed = false;
  return send(rank, *partner.where, BellWord::ring, ++sequence_);
}

// ---- any thread

void Bell::touch(int rank, Owe owe) {
  if (is_silent()) return;
  const std::scoped_lock lock(mutex_);
  Partner* partner = partner_of(rank);
  if (!partner) return;
  partner->used = now();
  wanted_.store(true, std::memory_order_relaxed);
  if (owe == Owe::nothing || (owe == Owe::at_once && send_if_due(rank, *partner))) return;
  partner->owed = partner->owed_again = true;
}

void Bell::ring(int rank) { touch(rank, Owe::at_once); }

void Bell::expect(int rank) { touch(rank, Owe::nothing); }

void Bell::forget(int rank) {
  const std::scoped_lock lock(mutex_);
  std::erase(order_, rank);
  partners_.erase(rank);
  if (partners_.empty()) wanted_.store(false, std::memory_order_relaxed);
}

void Bell::ring_all(const std::function<bool(int)>& is_here) {
  if (is_silent()) return;
  for (int distance = 1; distance < plan_.size && distance > 0; distance *= 2)
    for (const int rank : {(plan_.rank + distance) % plan_.size, (plan_.rank - distance + plan_.size) % plan_.size,
                           plan_.rank ^ distance})
      if (rank < plan_.size && !is_here(rank)) touch(rank, Owe::at_the_next_turn);
}

// ---- the engine's thread

void Bell::refuse(std::string reason) {
  const std::scoped_lock lock(mutex_);
  reason_ = std::move(reason);
  state_ = State::refused;
}

void Bell::start() {
  if (state_ != State::idle) return;
  if (plan_.job.empty()) {
    refuse("the launcher gives this job no name that all its nodes know");
    return;
  }
  try {
    hosts_ = plan_.hosts();
    if (!plan_.asked_for && hosts_.empty())
      throw std::runtime_error(
          "the launcher names no hosts of this job's; doorbell=udp has each node write its own beside the key");
    if (!plan_.asked_for && hosts_.size() == 1) throw std::runtime_error("this job runs on one host");
    key_ = key_of_job(read_or_make_key(plan_.key_file), plan_.job);
    port_ = static_cast<in_port_t>(plan_.port > 0 ? plan_.port : first_port + siphash(key_, "port") % ports);
    job_word_ = hexadecimal(siphash(key_, "hosts"));
    const int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "socket");
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = plan_.address;
    if (bind(descriptor, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
      const int error = errno;
      close(descriptor);
      throw std::system_error(error, std::generic_category(), "bind");
    }
    {
      const std::scoped_lock lock(mutex_);
      if (state_ != State::idle) {  // it was stopped meanwhile
        close(descriptor);
        return;
      }
      socket_ = descriptor;
      state_ = State::rings;
    }
    look_for_hosts();
    keep();
  } catch (const std::exception& error) {
    refuse(error.what());
  }
}

void Bell::look_for_hosts() {
  looked_for_hosts_ = now();
  by_files_ = by_files_ || hosts_.empty();
  if (by_files_) {
    auto hosts = published_hosts(plan_.key_file, job_word_);
    std::ranges::sort(hosts);
    if (hosts == hosts_) return;
    hosts_ = std::move(hosts);
  }
  addresses_.assign(hosts_.size(), {});
  looked_up_.assign(hosts_.size(), false);
}

// Whoever comes first on a node; when it has ended, another one.
void Bell::keep() {
  if (keeps_ || now() - tried_to_keep_ < between_tries_to_keep) return;
  tried_to_keep_ = now();
  std::unique_ptr<BellKeeper> keeper;
  try {
    keeper = BellKeeper::try_to_keep(plan_.address, port_, key_, plan_.size,
                                     [this](const auto& message, const auto& from) { return taken(message, from); });
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  if (!keeper) return;
  auto published = by_files_ ? std::make_unique<PublishedHost>(plan_.key_file, job_word_, host_name()) : nullptr;
  const std::scoped_lock lock(mutex_);
  if (state_ != State::rings) return;  // stopped meanwhile: both go again, after the lock, which its thread may need
  keeper_ = std::move(keeper);
  keeps_ = true;
  published_ = std::move(published);
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
  }
  return addresses_[host];
}

// With the mutex held: the last question had its time.
bool Bell::may_be_asked(const Partner& partner) const {
  const bool in_first_round = partner.questions < hosts_.size();
  return now() - partner.rung >= (in_first_round ? plan_.interval : between_rounds);
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
    if (partner.questions >= times_that_all_are_asked * size) {  // it has no engine: others shall have its turns
      partner.owed = false;
      return;
    }
    if (!may_be_asked(partner)) return;
    partner.rung = now();
    partner.asked = question = ++sequence_;  // others ring meanwhile
    partner.owed_again = false;
    begin = partner.questions;
    partner.questions += std::min(questions_at_once, size);
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
      if (state_ != State::rings) return;
      size = recvfrom(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), &length);
      if (size < 0 && errno != ECONNREFUSED) return;
    }
    const auto message = unseal(std::span(bytes).first(static_cast<std::size_t>(std::max<ssize_t>(size, 0))), key_);
    if (!message || message->word != BellWord::here || std::cmp_not_equal(message->target, plan_.rank)) continue;
    const std::scoped_lock lock(mutex_);
    const auto partner = partners_.find(static_cast<int>(message->sender));
    if (partner == partners_.end() || partner->second.asked != message->sequence) continue;
    from.sin_port = htons(port_);
    partner->second.where = from;
    partner->second.owed = partner->second.owed_again;  // the question rang it
  }
}

void Bell::turn() {
  if (state_ != State::rings) return;
  hear_answers();
  keep();
  std::vector<int> unknown;
  {
    const std::scoped_lock lock(mutex_);
    std::size_t sent = 0;
    std::size_t i = 0;
    for (; i < order_.size() && sent < datagrams_at_once; ++i, ++next_) {
      const int rank = order_[next_ % order_.size()];
      Partner& partner = partners_[rank];
      if (!partner.owed) continue;
      if (!partner.where) {
        if (!may_be_asked(partner)) continue;  // it takes no turn from those that are known
        unknown.push_back(rank);
        sent += questions_at_once;
      } else if (send_if_due(rank, partner)) {
        ++sent;
      }
    }
    if (i < order_.size()) ++bounded_;
  }
  if (!unknown.empty() && by_files_ && now() - looked_for_hosts_ > between_looks_for_hosts) look_for_hosts();
  for (const int rank : unknown) ask(rank);
}

void Bell::ring_partners() {
  if (!rings()) return;
  const std::scoped_lock lock(mutex_);
  const Nanoseconds since = now() - of_late;
  std::size_t rung = 0;
  std::size_t i = 0;
  for (; i < order_.size() && rung < datagrams_at_once; ++i, ++next_) {
    const int rank = order_[next_ % order_.size()];
    Partner& partner = partners_[rank];
    if (partner.used < since) continue;
    if (!send_if_due(rank, partner)) partner.owed = partner.owed_again = true;
    ++rung;
  }
  if (i < order_.size()) ++bounded_;
}

// ---- the keeper's thread

bool Bell::taken(const BellMessage& message, const sockaddr_in& from) {
  const auto target = static_cast<int>(message.target);
  if (target == plan_.rank) {
    const std::scoped_lock lock(mutex_);
    if (Partner* partner = partner_of(static_cast<int>(message.sender))) {
      partner->where = from;
      partner->where->sin_port = htons(port_);
      partner->used = now();
    }
  }
  return ring_here_(target);
}

// ---- its end

void Bell::stop() {
  std::unique_ptr<BellKeeper> keeper;
  {
    const std::scoped_lock lock(mutex_);
    state_ = state_ == State::refused ? State::refused : State::ended;
    keeper = std::move(keeper_);
    published_.reset();
    if (const int descriptor = socket_.exchange(-1); descriptor >= 0) close(descriptor);
  }
  if (!keeper) return;
  const std::uint64_t taken = keeper->taken();
  const std::uint64_t refused = keeper->refused();
  keeper.reset();  // its thread may wait for the mutex
  const std::scoped_lock lock(mutex_);
  kept_ = true;
  taken_ += taken;
  refused_ += refused;
}

void Bell::close_in_child() const {
  if (const int descriptor = socket_; descriptor >= 0) close(descriptor);
  if (keeper_) keeper_->close_in_child();
}

Bell::Counts Bell::counts() const {
  const std::scoped_lock lock(mutex_);
  Counts counts;
  switch (state_) {
    case State::idle:
      counts.state = "not needed";
      break;
    case State::rings:
    case State::ended:
      counts.state = port_ != 0 ? "rings" : "not needed";
      break;
    case State::refused:
    default:
      counts.state = reason_;
      break;
  }
  counts.keeps = kept_ || keeper_;
  counts.sent = sent_;
  counts.bounded = bounded_;
  counts.taken = taken_ + (keeper_ ? keeper_->taken() : 0);
  counts.refused = refused_ + (keeper_ ? keeper_->refused() : 0);
  return counts;
}

}  // namespace progress_engine
