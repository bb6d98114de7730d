// SPDX-License-Identifier: BSD-3-Clause
// The loop of points=events (the preset adaptive): parked while nothing is pending; else woken by traffic, no more
// often than the polling interval allows, and only while polling pays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/arming.hpp"
#include "core/engine.hpp"
#include "core/polling_interval.hpp"
#include "core/settling.hpp"
#include "platform/placement.hpp"

namespace progress_engine {

class EventLoop {
 public:
  EventLoop(Engine& engine, Worker& worker)
      : engine_(engine),
        worker_(worker),
        events_(engine.policy().wait == Wait::epoll ? engine.events() : nullptr),
        doorbell_(engine.doorbell()),
        interval_(microseconds(engine.policy().min_distance_us), microseconds(engine.policy().start_distance_us),
                  microseconds(engine.policy().max_distance_us)),
        unannounced_(microseconds(engine.policy().min_distance_us), microseconds(engine.policy().start_distance_us),
                     microseconds(engine.policy().max_distance_us)),
        arming_(microseconds(engine.policy().rest_us), microseconds(64L * engine.policy().rest_us)),
        may_disarm_(engine.policy().rest_us > 0 && !engine.policy().managed_waiting),
        timeout_(first_timeout()) {
    if (events_ && doorbell_) events_->watch(doorbell_->published().descriptor(), [this] { read_datagrams(); });
  }

  void run() {
    while (!engine_.stopping()) {
      engine_.observe(worker_);
      if (!arming_.armed())
        back_off();
      else if (engine_.may_poll())
        work();
      else
        park();
    }
  }

 private:
  void work() {
    const bool called = !in_busy_period_ || operations_of_program() != operations_;
    if (called && announced() && engine_.activity().progress_users() == 0 && !all_are_started()) return;
    if (!std::exchange(in_busy_period_, true)) begin_busy_period();
    note_operations();
    look_by_time();
    // It still computes: what the poll before won it would not have had by waiting at once.
    gain_ += std::exchange(won_, 0) + won_since_poll(now());
    const auto before = Settling::of(engine_.activity());
    const auto burst = poll();
    if (called && burst.productive > 0) {
      settling_.polled(before, polled_);
      engine_.ask_for_call();
    }
    if (announced()) {
      // Time for more to gather. After a wake for nothing there is nothing to gather: the next traffic wakes it.
      // Who asks from a window asks again when it has its answer.
      if (!asked_ && (burst.productive > 0 || traffic_)) sleep(rounds_.rest(rest_after(burst), shortest_rest()));
      traffic_ = engine_.may_poll() && await_traffic(timeout_);
    } else {
      await_anything(burst);
    }
  }

  // Not between two starts of one exchange, see Settling; bounded for a program that starts without end.
  bool all_are_started() {
    auto operations = operations_of_program();
    if (operations == rung_operations_ && now() - rung_ >= settling_.time()) return true;
    const Nanoseconds end = now() + std::min(16 * settling_.time(), 8 * Settling::longest);
    do {
      sleep(settling_.time());
      if (!engine_.may_poll()) return false;
    } while (std::exchange(operations, operations_of_program()) != operations && now() < end);
    return true;
  }

  std::uint64_t operations_of_program() const {
    const Activity& activity = engine_.activity();
    return activity.started() + activity.completed() + activity.progress_users_added();
  }

  // No source has shown that it announces the MPI's traffic: a ring ends the wait, else the timer does.
  void await_anything(const BurstResult& burst) {
    if (burst.productive > 0 || burst.awaited) unannounced_.event(polled_);
    in_bulk_ = !asked_ && (in_bulk_ || interval_.is_bulk(burst.productive_time));
    const Nanoseconds usual = in_bulk_ ? gathering() : interval_.minimum();
    const Nanoseconds rest = asked_ ? shortest_rest() : usual;
    if (in_bulk_ && burst.productive > 0) {
      sleep(rest);  // time for more to gather
      traffic_ = false;
      return;
    }
    if (traffic_) sleep(rest);  // however often it is rung
    traffic_ = engine_.may_poll() && await_traffic(std::max(rest, unannounced_.next(polled_)));
  }

  // What a wake takes: the computation has as much of the core as whoever is answered.
  Nanoseconds shortest_rest() const { return std::min(interval_.minimum(), interval_.price()); }

  // The rest in which more of a message gathers; it may be a neighbour, in a blocking call, that waits for that.
  Nanoseconds gathering() {
    if (engine_.activity().progress_users() > 0) return interval_.shortened_for_a_sleeper(polled_ - noted_);
    if (awaited_since_ > 0) return interval_.shortened_for_a_sleeper(polled_ - awaited_since_);
    return interval_.since(polled_ - noted_);
  }

  // More of a message gathers. After what moved no data comes an answer, or the next message's handshake: then a share
  // of the time since the program's last start or completion.
  Nanoseconds rest_after(const BurstResult& burst) {
    if (bulk_ || interval_.is_bulk(burst.productive_time)) return gathering();
    return std::min(gathering(), std::max(interval_.price(), (polled_ - noted_) / 4));
  }

  // A neighbour that rang may not have sent anything yet: then the next look is soon.
  void note_who_waits(const BurstResult& burst) {
    if (burst.awaited)
      awaited_since_ = polled_;
    else if (burst.productive == 0)
      awaited_since_ = 0;
    if (burst.awaited && burst.productive == 0) timeout_ = std::min(interval_.minimum(), first_timeout());
  }

  // What the program started and completed since the last poll, and who began to sleep until the engine has moved a
  // message (a blocking call that is none of those operations): answers may be near.
  void note_operations() {
    settling_.looked(Settling::of(engine_.activity()), engine_.called(), now());
    const auto operations = operations_of_program();
    if (std::exchange(operations_, operations) == operations) return;
    noted_ = now();
    unannounced_.event(noted_);
    in_bulk_ = false;
  }

  // Whether something ends a wait when there is something to do: else time must.
  bool announced() const { return (events_ && events_->carries()) || (doorbell_ && doorbell_->all_are_near()); }

  BurstResult poll() {
    if (events_) events_->before_poll();
    const auto answers = worker_.answers.load(std::memory_order_relaxed);
    const auto burst = engine_.poll(worker_, events_);
    armed_ = burst.armed;
    const bool rung = worker_.answers.load(std::memory_order_relaxed) != answers;
    const bool from_here = rung || (doorbell_ && doorbell_->all_are_near());
    const auto effect = events_ ? events_->after_poll() : PollEffect{};
    // Who reaches into a window asks again when it has its answer: nothing gathers in a rest, however long it is, and
    // the poll that answers takes as long as one that moves data.
    asked_ = (traffic_ || burst.productive > 0) && effect.small && engine_.activity().progress_users() > 0;
    bulk_ = effect.bulk;
    needed_ = needed_ || effect.needed || !announced();
    idle_ += burst.idle_time;
    won_ = 0;
    const Nanoseconds last = std::exchange(polled_, now());
    network_works_ = announced() && !from_here && (effect.needed || (needed_ && burst.productive > 0));
    if (burst.productive > 0)
      won_ = from_here ? won_here(burst.productive_time) : won_afar(burst.productive_time, last);
    else if (!announced())
      won_ = (polled_ - last) / watched_share;
    if (announced() && traffic_ && !asked_ && !interval_.is_bulk(burst.productive_time))
      rounds_.after_wake({burst.steps, polled_ - last, awaited_});
    interval_.after_wake({asked_ ? 0 : burst.productive_time, burst.idle_time, effect.late && !asked_, bulk_});
    if (burst.productive > 0 && !traffic_) suspect_a_source();
    timeout_ = burst.productive > 0 || traffic_ || timeout_ < first_timeout()
                   ? first_timeout()
                   : std::min(2 * timeout_, 8 * first_timeout());
    note_who_waits(burst);
    return burst;
  }

  void park() {
    traffic_ = false;
    settling_.looked(Settling::of(engine_.activity()), engine_.called(), now());
    if (in_busy_period_) end_busy_period();
    settle();  // whoever waits at once rings for nothing, and has no busy periods
    if (!arming_.armed()) return;
    engine_.park(worker_);
    rung_ = now();
    rung_operations_ = operations_of_program();
    timeout_ = first_timeout();
    suspect_a_source();
    // The call that rang has itself done what could be done; now the program may compute, or wait at once. If it
    // lately computed, the partner's answer ends the wait; if it waited, the answer is its own. Where nothing will
    // announce the answer the first poll is at once: who waits at once is inside MPI by now.
    //
    // Traffic must not end a sleep that has just begun: a thread that has run a moment ago is not due, the kernel does
    // not take the CPU from the program for it (EEVDF), and decides anew at its next tick alone, milliseconds later.
    if (!announced()) return;
    const bool follows = computes_for_ > worth_following * interval_.price();
    sleep(follows ? settling_.time() : interval_.current());
    if (follows) traffic_ = engine_.may_poll() && (lies_unread() || await_traffic(timeout_));
    if (!engine_.may_poll()) note_period(0);
  }

  // ---- busy periods: from work to none, see Arming
  void begin_busy_period() {
    polled_ = began_ = now();
    needed_ = network_works_ = false;
  }

  // After the last poll, too, the network worked beside the computation: of a short message there is no other one.
  void end_busy_period() {
    const Nanoseconds end = now();
    in_busy_period_ = false;
    won_ = 0;
    gain_ += won_since_poll(end);
    note_period(end - began_);
    interval_.reset();
  }

  void note_period(Nanoseconds length) { computes_for_ = std::max(length, computes_for_ - computes_for_ / 16); }

  // What was had and paid since the last time.
  void settle() {
    const auto wakes = static_cast<Nanoseconds>(worker_.wakes.load(std::memory_order_relaxed) - wakes_);
    if (may_disarm_) arming_.settle(gain_, idle_ + wakes * PollingInterval::wake_price);
    begin_account();
  }

  void begin_account() {
    gain_ = idle_ = 0;
    wakes_ = worker_.wakes.load(std::memory_order_relaxed);
  }

  // From neighbours nothing is on its way while the program computes: to copy on its own CPU now or later is the same.
  Nanoseconds won_here(Nanoseconds copying) {
    if (spare_cpus_.due(polled_)) spare_cpus_.look(polled_);
    return spare_cpus_.cpus().empty() ? 0 : copying;
  }

  // Where nothing announces traffic the network has worked since the last poll.
  Nanoseconds won_afar(Nanoseconds moving, Nanoseconds last) const {
    if (!announced()) return moving + polled_ - last;
    return needed_ ? moving : 0;
  }

  // What the last poll wrote, or made room for, moves beside the computation. For how long nobody says: for a rest.
  Nanoseconds won_since_poll(Nanoseconds time) {
    const Nanoseconds rest = std::max(interval_.start(), interval_.current());
    return std::exchange(network_works_, false) ? std::min(time - polled_, rest) : 0;
  }

  void back_off() {
    bool missed = false;
    const Nanoseconds end = now() + arming_.backoff();
    const Nanoseconds look = std::clamp(arming_.backoff() / looks, shortest_look, longest_look);
    while (!missed && !engine_.stopping() && now() < end) {
      const Nanoseconds before = engine_.time_on();  // a pause is counted as one
      sleep(std::min(look, end - now()));
      missed = waits_where_it_computes();
      const Nanoseconds passed = engine_.time_on() - before;
      worker_.disarmed.store(worker_.disarmed.load(std::memory_order_relaxed) + passed, std::memory_order_relaxed);
    }
    arming_.backoff_ended(missed);
    begin_account();
  }

  // A handshake came while the program was inside MPI, which did not read it, and has ended a wait then.
  bool lies_unread() const { return events_ && events_->unanswered().has_value(); }

  // A look at any time would mostly miss the computation beside a short message. Of two starts one may be waited for at
  // once.
  bool waits_where_it_computes() {
    for (int tries = 2; tries > 0 && !engine_.stopping(); --tries) {
      if (!engine_.may_poll()) engine_.park(worker_);
      if (waits_for_a_poll()) return true;
      if (engine_.may_poll()) return false;
    }
    return false;
  }

  // Whether a handshake lies unread, or a socket is full, and the network stands still while the program computes. The
  // partner's may come a little later than the program began.
  bool waits_for_a_poll() {
    if (!events_) return false;
    if (!lies_unread()) sleep(standstill / 2);
    const auto unanswered = events_->unanswered();
    if (!unanswered || !engine_.may_poll()) return false;
    sleep(standstill);
    return engine_.may_poll() && events_->unanswered() == unanswered;
  }

  // A ring leaves its mark on the line before the datagram that ends a sleep. A datagram without a mark is a late one,
  // or anybody's: of those a thousand a second are taken, however many come. A ring meanwhile is found a millisecond
  // late.
  void read_datagrams() {
    read_all_ = doorbell_->published().drain();
    if (!rung()) pause_for_ = unmarked_.take(now());
  }

  // True if there was traffic; the timer stands behind it, for what neither a socket nor a neighbour announces.
  bool await_traffic(Nanoseconds timeout) {
    awaited_ = false;
    if (!armed_) return true;  // it was there before we could sleep
    if (const Nanoseconds pause = std::exchange(pause_for_, 0); pause > 0) sleep(pause);
    if (!read_all_) read_datagrams();
    if (!read_all_) timeout = std::min(timeout, unmarked_period);  // a full queue takes no ring
    bool traffic = false;
    const Nanoseconds begin = now();
    const auto watch = [&] { traffic = events_->wait(timeout); };
    const bool may_be_rung = doorbell_ && doorbell_->anyone_rings();
    if (!events_ && !may_be_rung)
      engine_.sleep(timeout);
    else if (!may_be_rung)
      watch();
    else if (has_places())
      doorbell_->own().sleep_elsewhere(watch);
    else
      doorbell_->own().sleep(timeout);
    auto source = traffic ? WakeSource::traffic : WakeSource::timer;
    if (rung()) source = WakeSource::neighbour;
    worker_.woke(source);
    awaited_ = now() - begin > interval_.price() / 2;
    return source != WakeSource::timer;
  }

  bool rung() const { return doorbell_ && doorbell_->own().rung(); }

  void sleep(Nanoseconds time) {
    engine_.sleep(time);
    worker_.woke(WakeSource::timer);
  }

  // Connections are made as they are first used. A poll that moved something unannounced may say that a source is
  // missing, and so may new work; we look ever more rarely, since looking costs some 50 us.
  void suspect_a_source() {
    if (++occasions_ < next_look_) return;
    if (events_) events_->refresh();
    if (doorbell_) doorbell_->look_around();
    next_look_ = occasions_ + std::min<std::uint64_t>(occasions_ + 1, most_occasions);
  }

  // Who reaches into a window connects when it first does so, and what comes then may be so small that no poll looks
  // productive. So while others may, it looks by time, too: for a small share of it, and ever more rarely where nothing
  // new is found.
  void look_by_time() {
    if (!events_ || traffic_ || engine_.activity().progress_users() == 0) return;
    const bool expected = engine_.take_expected_connections();
    if (!expected && polled_ < timed_look_) return;
    const Nanoseconds begin = now();
    const bool found = events_->refresh();
    const Nanoseconds end = now();
    const Nanoseconds shortest = looking_share * (end - begin);
    timed_pause_ = found || expected ? shortest : std::max(shortest, std::min(2 * timed_pause_, longest_timed_pause));
    timed_look_ = end + timed_pause_;
  }

  bool has_places() const { return events_ && events_->any(); }
  Nanoseconds first_timeout() const { return microseconds(engine_.policy().timer_us); }

  Engine& engine_;
  Worker& worker_;
  EventSource* events_;
  Doorbell* doorbell_;
  PollingInterval interval_;
  UnannouncedInterval unannounced_;
  RoundsInterval rounds_;
  Settling settling_;
  Arming arming_;
  bool may_disarm_;  // who sleeps until the engine has moved his message cannot do without it
  Nanoseconds timeout_;
  bool traffic_ = false;
  bool asked_ = false;         // what came is a request of who reaches into a window
  bool bulk_ = false;          // what came was data
  bool awaited_ = false;       // it came some time after the wait had begun
  bool read_all_ = true;       // the doorbell's socket is empty
  Nanoseconds pause_for_ = 0;  // before it listens again, see read_datagrams()
  static constexpr Nanoseconds unmarked_period = microseconds(1000);
  WakeBudget unmarked_{64, unmarked_period};
  bool armed_ = true;     // what comes is announced, where anything is
  bool in_bulk_ = false;  // polls move data since the last start or completion: what is left are no handshakes
  bool in_busy_period_ = false;
  bool needed_ = false;         // a poll was, in this busy period, see PollEffect
  bool network_works_ = false;  // by what the last poll did
  Nanoseconds began_ = 0;       // when, the busy period
  // How long the program computes with something pending, as it did lately. If for longer than some wakes take, its
  // messages' handshakes are followed; who waits at once does that himself.
  static constexpr Nanoseconds worth_following = 8;
  Nanoseconds computes_for_ = interval_.start();
  Nanoseconds polled_ = 0;  // when
  Nanoseconds won_ = 0;     // by the last poll, see Arming
  SpareCpus spare_cpus_{worker_.cpus, engine_.computing_threads()};
  Nanoseconds gain_ = 0;  // since the account was settled, as are the next two
  Nanoseconds idle_ = 0;  // in polls that moved nothing
  std::uint64_t wakes_ = 0;
  // In backoff: a look costs a ring and two wakes. At the end of a backoff there is one, however short it is.
  static constexpr Nanoseconds longest_look = microseconds(20'000);
  static constexpr Nanoseconds shortest_look = microseconds(10'000);
  static constexpr Nanoseconds looks = 4;
  static constexpr Nanoseconds standstill = microseconds(200);  // many times what a wake costs
  Nanoseconds rung_ = 0;                                        // when, by a call of the program
  std::uint64_t rung_operations_ = 0;                           // then
  std::uint64_t operations_ = 0;                                // at the last poll, see note_operations()
  Nanoseconds noted_ = 0;                                       // when their number was another one
  Nanoseconds awaited_since_ = 0;  // by a neighbour in a blocking call; 0: nobody, as far as is known
  // Of the time with something pending beside computation, what polls that nothing announces may cost.
  static constexpr Nanoseconds watched_share = 16;
  static constexpr std::uint64_t most_occasions = 64;
  std::uint64_t occasions_ = 0;
  std::uint64_t next_look_ = 0;
  static constexpr Nanoseconds looking_share = 100;
  static constexpr Nanoseconds longest_timed_pause = seconds(1);
  Nanoseconds timed_pause_ = 0;
  Nanoseconds timed_look_ = 0;  // when, at the earliest
};

}  // namespace progress_engine
