// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/bell.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "wakeup/hexadecimal.hpp"

namespace progress_engine {
namespace {

// At a time: each turn looks at all of them.
constexpr std::size_t most_partners = 1024;
// Among so many who makes place is chosen (as in Redis's approximated LRU): nearly the one that was used longest ago,
// and what that takes does not grow with their number.
constexpr std::size_t asked_to_make_place = 16;
// A turn or a poll sends no more, however many partners are owed a ring: each is a system call of a microsecond or two.
// The others' turn comes next.
constexpr std::size_t datagrams_at_once = 16;
constexpr Nanoseconds of_late = seconds(1);
constexpr Nanoseconds between_tries_to_keep = seconds(1);
constexpr Nanoseconds between_looks_for_hosts = seconds(1) / 10;
constexpr Nanoseconds time_to_answer = seconds(1) / 2;
constexpr int most_questions_here = 3;  // it may be no keeper, and is left alone then

// Below those that the kernel gives to whoever asks for none, and above the well-known ones.
constexpr std::uint64_t first_port = 20000;
constexpr std::uint64_t ports = 12000;

std::uint64_t wall_clock_us() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>((seconds(time.tv_sec) + time.tv_nsec) / 1000);
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
  if (partners_.size() < most_partners)
    order_.push_back(rank);
  else
    make_place_for(rank);
  Partner& partner = partners_[rank];
  if (const auto known = remembered_.find(rank); known != remembered_.end()) {
    partner.where = known->second;
    remembered_.erase(known);
  }
  return &partner;
}

// What is lost is a ring at most: where it is stays known.
void Bell::make_place_for(int rank) {
  ++bounded_;
  std::size_t chosen = 0;
  Nanoseconds earliest = std::numeric_limits<Nanoseconds>::max();
  for (std::size_t i = 0; i < asked_to_make_place; ++i) {
    looked_at_ = (looked_at_ + 1) % order_.size();
    const Nanoseconds used = partners_[order_[looked_at_]].used;
    if (used > earliest) continue;
    earliest = used;
    chosen = looked_at_;
  }
  const auto gone = partners_.find(order_[chosen]);
  if (gone->second.where) remembered_[gone->first] = *gone->second.where;
  partners_.erase(gone);
  order_[chosen] = rank;
}

bool Bell::send(int rank, const sockaddr_in& where, BellWord word, std::uint64_t sequence) {
  if (state_ != State::rings || !socket_.is_ours()) return false;
  const auto datagram =
      seal({word, static_cast<std::uint32_t>(plan_.rank), static_cast<std::uint32_t>(rank), sequence}, key_);
  ++sent_;
  return sendto(socket_.number(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
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
  if (owe == Owe::at_once && send_if_due(rank, *partner)) return;
  partner->owed = partner->owed_again = true;
}

void Bell::ring(int rank) {
  if (is_silent()) return;
  certain_.fetch_add(1, std::memory_order_relaxed);
  touch(rank, Owe::at_once);
}

// A sender who has asked already, and rang, waits for the answer that left in this call.
void Bell::expect_anyone() {
  if (is_silent()) return;
  possible_.fetch_add(1, std::memory_order_relaxed);
  expects_anyone_.store(true, std::memory_order_relaxed);
  wanted_.store(true, std::memory_order_relaxed);
  owes_all_.store(true, std::memory_order_relaxed);
}

void Bell::forget(int rank) {
  const std::scoped_lock lock(mutex_);
  std::erase(order_, rank);
  partners_.erase(rank);
  remembered_.erase(rank);
  if (partners_.empty() && !expects_anyone_) wanted_.store(false, std::memory_order_relaxed);
}

void Bell::ring_all(const std::function<bool(int)>& is_here) {
  if (is_silent()) return;
  possible_.fetch_add(1, std::memory_order_relaxed);
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
    if (!plan_.asked_for && hosts_.size() == 1) throw std::runtime_error("this job runs on one host");
    key_ = key_of_job(read_or_make_key(plan_.key_file), plan_.job);
    port_ = static_cast<in_port_t>(plan_.port > 0 ? plan_.port : first_port + siphash(key_, "port") % ports);
    job_word_ = hexadecimal(siphash(key_, "hosts"));
    OwnDescriptor made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = plan_.address;
    if (bind(made.number(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0)
      throw std::system_error(errno, std::generic_category(), "bind");
    {
      const std::scoped_lock lock(mutex_);
      if (state_ != State::idle) return;  // it was stopped meanwhile
      socket_ = std::move(made);
      state_ = State::rings;
    }
    look_for_hosts();
    keep();
  } catch (const std::exception& error) {
    refuse(error.what());
  }
}

// Whoever comes first on a node; when it has ended, another one.
void Bell::keep() {
  if (now() - tried_to_keep_ < between_tries_to_keep) return;
  tried_to_keep_ = now();
  if (keeps_) {
    const auto published = [this] {
      const std::scoped_lock lock(mutex_);
      return published_;
    }();
    if (published) published->keep_fresh();  // without the mutex, which the program's calls take: files may be slow
    return;
  }
  std::unique_ptr<BellKeeper> keeper;
  std::shared_ptr<PublishedHost> published;
  try {
    keeper = BellKeeper::try_to_keep(plan_.address, port_, key_, plan_.size,
                                     [this](const auto& message, const auto& from) { return taken(message, from); });
    if (keeper && by_files_) published = std::make_shared<PublishedHost>(plan_.key_file, job_word_, host_name());
  } catch (const std::exception& error) {
    refuse(error.what());
    return;
  }
  if (!keeper) {
    ask_here();
    return;
  }
  const std::scoped_lock lock(mutex_);
  if (state_ != State::rings) return;  // stopped meanwhile: both go again, after the lock, which its thread may need
  keeper_ = std::move(keeper);
  keeps_ = true;
  published_ = std::move(published);
}

void Bell::turn() {
  if (state_ != State::rings) return;
  hear_answers();
  keep();
  if (owes_all_.exchange(false, std::memory_order_relaxed)) ring_partners();
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
        if (!may_be_asked(partner)) continue;  // who has no engine takes no turn from the others
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

// Whoever has this node's port is the job's keeper, and answers, or it is none of ours.
void Bell::ask_here() {
  const std::scoped_lock lock(mutex_);
  if (heard_here_ || questions_here_ == most_questions_here) return;
  if (questions_here_++ == 0) asked_here_ = now();
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(port_);
  here.sin_addr.s_addr = plan_.address == INADDR_ANY ? htonl(INADDR_LOOPBACK) : plan_.address;
  send(plan_.rank, here, BellWord::ask, ++sequence_);
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
  hear_answers();
  std::unique_ptr<BellKeeper> keeper;
  {
    const std::scoped_lock lock(mutex_);
    state_ = state_ == State::refused ? State::refused : State::ended;
    keeper = std::move(keeper_);
    published_.reset();
    socket_.close();
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

void Bell::close_in_child() {
  socket_.close();
  if (keeper_) keeper_->close_in_child();
}

// With the mutex held. Who was found by an answer or a ring of his own needs no name there.
std::string Bell::what_begun_does() const {
  const bool found = !remembered_.empty() || std::ranges::any_of(partners_, [](const auto& partner) {
    return partner.second.where.has_value();
  });
  if (questions_here_ > 0 && now() - asked_here_ > time_to_answer && !heard_here_ && !kept_ && !keeper_)
    return "another program or another job has UDP port " + std::to_string(port_) +
           " of this node, so that nobody hears a ring here; bell_port gives the job another one";
  if (!nobody_else_ || found) return "rings";
  return "no other node has put its name beside the key, which all nodes must see: " + plan_.key_file;
}

Bell::Counts Bell::counts() {
  hear_answers();
  const std::scoped_lock lock(mutex_);
  Counts counts;
  switch (state_) {
    case State::idle:
      counts.state = "not needed";
      break;
    case State::rings:
    case State::ended:
      counts.state = port_ != 0 ? what_begun_does() : "not needed";
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
