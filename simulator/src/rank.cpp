// SPDX-License-Identifier: BSD-3-Clause
#include "rank.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace simulated {

// ---- what the program calls

RequestPtr Rank::send(int peer, int tag, Bytes bytes) {
  if (wakes_->turns() != nullptr) {
    auto request = std::make_shared<Request>();
    hand_over([this, peer, tag, bytes, request] { post_send(peer, tag, bytes, request); });
    return request;
  }
  cost_ = moving_ = 0;
  auto request = post_send(peer, tag, bytes);
  busy_until_ = std::max(now(), busy_until_) + cost_;
  return request;
}

RequestPtr Rank::receive(int peer, int tag, Bytes bytes) {
  if (wakes_->turns() != nullptr) {
    auto request = std::make_shared<Request>();
    hand_over([this, peer, tag, bytes, request] { post_receive(peer, tag, bytes, request); });
    return request;
  }
  cost_ = moving_ = 0;
  auto request = post_receive(peer, tag, bytes);
  busy_until_ = std::max(now(), busy_until_) + cost_;
  return request;
}

RequestPtr Rank::start(Rounds rounds) {
  auto collective = std::make_shared<Operation>();
  collective->rounds = std::move(rounds);
  collective->tag = -(++collective_count_);  // a program's own tags are not negative
  const auto begin = [this, collective] {
    began();
    collectives_.push_back(collective);
    next_round(*collective);  // and no more: both MPIs leave the rest to their progress
  };
  if (wakes_->turns() != nullptr) {
    hand_over(begin);
    return collective;
  }
  cost_ = moving_ = 0;
  begin();
  busy_until_ = std::max(now(), busy_until_) + cost_;
  return collective;
}

// ---- inside MPI

bool Rank::enter(const RequestPtr& request) {
  where_ = Where::inside;
  awaited_ = request;
  if (wakes_->turns() != nullptr) {
    if (request->done) {
      awaited_ = nullptr;
    }
    return request->done;  // else its thread sees to it
  }
  unvisited_ = true;
  if (now() >= busy_until_) {
    visit();
    busy_until_ = now() + cost_;
  }
  if (request->done && now() >= busy_until_) {
    awaited_ = nullptr;
    return true;
  }
  entered_ = busy_until_;
  world_.at(busy_until_, [this] { serve(); });
  return false;
}

/// At each time at which something may have happened, or its core is free again.
void Rank::serve() {
  if (where_ != Where::inside || !awaited_ || now() < busy_until_) {
    return;  // a later call is on its way
  }
  if (!awaited_->done && (unvisited_ || !notices_.empty())) {
    const bool first = unvisited_;
    visit();
    busy_until_ = now() + cost_;
    entered_ = first ? busy_until_ : entered_;
  }
  if (!awaited_->done) {
    if (cost_ > 0 && busy_until_ > now()) {
      world_.at(busy_until_, [this] { serve(); });
    }
    return;
  }
  // Who shares its core with a busy thread looks where its turns begin, and no sooner.
  const Seconds turn = wakes_->looks();
  const Seconds waited = std::max(Seconds{0}, busy_until_ - entered_);
  resume_at(turn > 0 ? entered_ + (std::ceil(waited / turn) * turn) : busy_until_);
}

void Rank::resume_at(Seconds time) {
  awaited_ = nullptr;
  world_.at(time, [this] { program_.resume(); });
}

// ---- where the MPI's own thread makes every call

void Rank::hand_over(Action call) {
  handed_over_.push_back(std::move(call));
  plan_move();
}

void Rank::plan_move() {
  world_.at(wakes_->turns()->thread_at(std::max(now(), moving_until_)), [this] { move(); });
}

void Rank::move() {
  if (now() < moving_until_) {
    plan_move();
    return;
  }
  visit();
  moving_until_ = now() + cost_;
  if (awaited_ && awaited_->done) {
    resume_at(wakes_->turns()->program_at(moving_until_));
  }
}

void Rank::happened(Notice notice) {
  notices_.push_back(std::move(notice));
  if (wakes_->turns() != nullptr) {
    plan_move();
  } else if (where_ == Where::inside && awaited_) {
    world_.at(std::max(now() + wakes_->sleeps(), busy_until_), [this] { serve(); });
  } else if (where_ == Where::computing && asleep_ && wakes_->sleeps() > 0) {
    world_.at(now() + wakes_->sleeps(), [this] {  // the core is free for the same thread
      if (where_ == Where::computing) {
        visit();
      }
    });
  } else if (where_ == Where::computing && now() < polling_until_) {
    visit();                                               // somebody is polling, and goes on
    const Seconds more = wakes_->stays() > 0 ? 0 : cost_;  // a busy thread's time is paid already
    computed_at_ += asleep_ ? 0 : more;
    polling_until_ += more;
    polls_.cpu += more;
  } else if (where_ == Where::computing) {
    plan_poll();
  }
}

// ---- computing

void Rank::begin_computing(std::coroutine_handle<> program, Seconds work, bool asleep) {
  where_ = Where::computing;
  asleep_ = asleep;
  program_ = program;
  const Seconds begin = std::max(now(), busy_until_);
  const Turns* turns = wakes_->turns();
  computed_at_ = begin + work;
  if (turns != nullptr) {
    computed_at_ = asleep ? turns->program_at(computed_at_) : turns->computed(begin, work);
  }
  world_.at(computed_at_, [this] { end_computing(); });
  wakes_->computes(begin);
  plan_poll();
}

void Rank::end_computing() {
  if (now() < computed_at_) {  // polls took the core meanwhile
    world_.at(computed_at_, [this] { end_computing(); });
    return;
  }
  where_ = Where::outside;
  ++plan_;
  program_.resume();
}

void Rank::plan_poll() {
  const auto time = wakes_->next(std::max(now(), polling_until_), !notices_.empty());
  ++plan_;
  if (time && *time < computed_at_) {
    world_.at(*time, [this, plan = plan_] {
      if (plan == plan_ && where_ == Where::computing) {
        poll();
      }
    });
  }
}

void Rank::poll() {
  const bool traffic = !notices_.empty();
  visit();
  const Seconds took = std::max(model_.costs.wake + cost_, wakes_->stays());
  computed_at_ += asleep_ ? 0 : took;
  polling_until_ = now() + took;
  ++polls_.wakes;
  polls_.productive += traffic ? 1 : 0;
  polls_.cpu += took;
  const int steps = model_.protocol.zero_copy ? steps_ : 0;
  wakes_->polled({.at = now(), .took = took, .moving = moving_, .moved = traffic, .late = late_, .steps = steps});
  plan_poll();
}

// ---- a visit: everything advances as far as it can

void Rank::visit() {
  cost_ = moving_ = 0;
  steps_ = 0;
  late_ = unvisited_ = false;
  for (const auto& call : std::exchange(handed_over_, {})) {
    call();
  }
  bool again = true;
  while (again) {
    again = false;
    while (!notices_.empty()) {
      const Notice notice = std::move(notices_.front());
      notices_.pop_front();
      ++steps_;
      handle(notice);
    }
    for (const auto& collective : collectives_) {
      again = advance(*collective) || again;
    }
    std::erase_if(collectives_, [](const auto& collective) { return collective->done; });
  }
}

bool Rank::advance(Operation& collective) {
  bool moved = false;
  const auto done = [](const RequestPtr& request) { return request->done; };
  while (!collective.done && std::ranges::all_of(collective.current, done)) {
    collective.current.clear();
    cost_ += static_cast<double>(std::exchange(collective.reduce, 0)) * model_.costs.reduce_per_byte;
    next_round(collective);
    moved = true;
  }
  return moved;
}

void Rank::next_round(Operation& collective) {
  Round round;
  if (!collective.rounds(collective.next++, round)) {
    complete(collective);
    return;
  }
  collective.reduce = round.reduced;
  for (const bool sending : {false, true}) {  // what is received first is awaited when it comes
    for (const Step& step : round.steps) {
      if (step.send == sending) {
        collective.current.push_back(sending ? post_send(step.peer, collective.tag, step.bytes)
                                             : post_receive(step.peer, collective.tag, step.bytes));
      }
    }
  }
}

void Rank::handle(const Notice& notice) {
  const MessagePtr& message = notice.message;
  if (notice.kind == Notice::Kind::envelope) {
    const Envelope envelope{message->source(), message->tag()};
    const auto waiting = posted_.find(envelope);
    if (waiting == posted_.end()) {
      unexpected_[envelope].push_back(message);
      return;
    }
    const RequestPtr request = std::move(waiting->second.front());
    waiting->second.pop_front();
    if (waiting->second.empty()) {
      posted_.erase(waiting);
    }
    match(message, request);
    return;
  }
  const bool sending = notice.kind != Notice::Kind::data;
  auto& ours = sending ? sending_ : receiving_;
  const auto found = ours.find(message);
  if (found == ours.end()) {
    return;  // data of a message that nobody has asked for yet
  }
  late_ = late_ || (!sending && message->stalled());
  moved(sending ? message->fill() : message->drain());
  if (sending ? message->sent() : message->received()) {
    complete(*found->second);
    ours.erase(found);
  }
}

void Rank::match(const MessagePtr& message, const RequestPtr& request) {
  cost_ += model_.costs.call;
  request->incoming = message;
  if (message->asks()) {
    message->answer();
  } else {
    moved(message->drain());
  }
  if (message->received()) {
    complete(*request);
  } else {
    receiving_[message] = request;
  }
}

RequestPtr Rank::post_send(int peer, int tag, Bytes bytes, RequestPtr request) {
  began(bytes);
  cost_ += model_.costs.call;
  auto& receiver = *ranks_[static_cast<std::size_t>(peer)];
  const auto message = std::make_shared<Message>(world_, model_.protocol, *this, receiver, number_, tag, bytes);
  moved(message->begin());
  if (message->sent()) {
    complete(*request);
  } else {
    sending_[message] = request;
  }
  return request;
}

RequestPtr Rank::post_receive(int peer, int tag, Bytes bytes, RequestPtr request) {
  began(bytes);
  cost_ += model_.costs.call;
  const auto found = unexpected_.find({peer, tag});
  if (found == unexpected_.end()) {
    posted_[{peer, tag}].push_back(request);
    return request;
  }
  const MessagePtr message = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) {
    unexpected_.erase(found);
  }
  match(message, request);
  return request;
}

void Rank::moved(Bytes bytes) {
  if (!model_.protocol.zero_copy) {
    const Seconds copying = static_cast<double>(bytes) * model_.costs.copy_per_byte;
    cost_ += copying;
    moving_ += copying;
  }
}

// As the engine has it (needs_progress in progress_engine/src/core/activity.hpp): small messages need nobody.
void Rank::began(std::optional<Bytes> message) {
  ++pending_;
  const Bytes eager = wakes_->eager();
  const bool small = message && eager > 0 && *message <= eager;
  small_messages_ += small ? *message : 0;
  if (!for_wakes_ && (!small || small_messages_ > 8 * eager)) {
    for_wakes_ = true;
    wakes_->pending(now(), true);
  }
}

void Rank::complete(Request& request) {
  request.done = true;
  if (--pending_ > 0) {
    return;
  }
  small_messages_ = 0;
  if (std::exchange(for_wakes_, false)) {
    wakes_->pending(now(), false);
  }
}

void Fence::add(std::coroutine_handle<> program, double value) {
  arrived_.push_back(program);
  least_so_far_ = std::min(least_so_far_, value);
  if (std::cmp_equal(arrived_.size(), ranks_)) {
    least_ = std::exchange(least_so_far_, std::numeric_limits<double>::infinity());
    world_.at(world_.now(), [all = std::exchange(arrived_, {})] {
      for (const auto& one : all) {
        one.resume();
      }
    });
  }
}

}  // namespace simulated
