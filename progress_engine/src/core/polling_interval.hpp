// SPDX-License-Identifier: BSD-3-Clause
// How often to poll: the time between two wakes of the event loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "platform/platform.hpp"

namespace progress_engine {

// The polling interval: the time between two wakes. No fixed value is right: too short and each wake moves little for
// its price, too long and the network runs dry between wakes. The right one depends on the network's rate and on the
// sockets' buffers, so it is controlled: a wake should move so much that its own cost vanishes, and never find that it
// came too late.

struct WakeOutcome {
  Nanoseconds productive_time = 0;  // in polls that moved something
  Nanoseconds idle_time = 0;        // in polls that moved nothing: part of the wake's price
  bool late = false;                // traffic stood still for want of polling
  bool bulk = false;                // it brought data, however short it took
};

class PollingInterval {
 public:
  // Falling asleep and waking: two context switches, the timer, and what they evict from the caches. (The thread's CPU
  // time would say more than that: the kernel charges it with the network's interrupts.)
  static constexpr Nanoseconds wake_price = microseconds(20);

  PollingInterval(Nanoseconds minimum, Nanoseconds start, Nanoseconds maximum)
      : minimum_(minimum), start_(std::clamp(start, minimum, maximum)), maximum_(maximum), current_(start_) {}

  Nanoseconds current() const { return current_; }
  // The next interval, so long after the program began something: its end, or a step of it after which the network is
  // idle until the next poll, is found late by a share of that time at most.
  Nanoseconds since(Nanoseconds begun) { return shorten(2 * start_, begun); }
  // The same while a thread of the program sleeps until the engine has moved its message (waiting=managed). It pays for
  // all that the engine comes late, as one that computes does not.
  Nanoseconds shortened_for_a_sleeper(Nanoseconds waited) { return shorten(minimum_, waited); }
  Nanoseconds minimum() const { return minimum_; }
  Nanoseconds start() const { return start_; }
  Nanoseconds price() const { return price_; }  // of a wake
  // Whether a poll of so long moved data: less is a control message and says nothing about the rate.
  bool is_bulk(Nanoseconds productive_time) const { return productive_time > price_; }
  // A busy period is over. The next one's first messages are often a handshake that nothing should delay; then what was
  // learnt holds again.
  void reset() {
    learnt_ = std::max(current_, start_);
    current_ = start_;
  }

  void after_wake(const WakeOutcome& wake) {
    price_ += (wake_price + wake.idle_time - price_) / 8;
    const Nanoseconds shortened = std::exchange(shortened_, 0);
    if (wake.late)
      learnt_ = current_ = std::max(minimum_, current_ / 2);
    else if (wake.bulk || is_bulk(wake.productive_time))
      approach((shortened > 0 ? shortened : current_) * worth * price_ /
               std::max<Nanoseconds>(wake.productive_time, 1));
  }

 private:
  void approach(Nanoseconds wanted) {
    const Nanoseconds most = std::max(current_ * 3 / 2, learnt_);
    current_ = std::clamp(wanted, std::max(minimum_, current_ / 2), std::min(maximum_, most));
  }

  Nanoseconds shorten(Nanoseconds least, Nanoseconds passed) {
    return shortened_ = std::min(current_, std::max(least, passed / share));
  }

  // How many times its price a wake should spend on moving data.
  static constexpr Nanoseconds worth = 16;
  static constexpr Nanoseconds share = 16;

  Nanoseconds minimum_;
  Nanoseconds start_;
  Nanoseconds maximum_;
  Nanoseconds current_;
  Nanoseconds learnt_ = 0;     // of the last busy period: it may be taken up again at once
  Nanoseconds shortened_ = 0;  // the interval before this wake, where it was a shorter one
  Nanoseconds price_ = wake_price;
};

// The same where nothing announces what arrives: the next poll comes after a share of the time since the last event,
// which is a start, a completion, or a poll that moved something. So it comes soon while an answer is likely, and ever
// more rarely on the way of a long message, whose end it finds late by that share at most.
class UnannouncedInterval {
 public:
  UnannouncedInterval(Nanoseconds minimum, Nanoseconds usual, Nanoseconds maximum)
      : minimum_(minimum), usual_(std::max(std::clamp(usual, minimum, maximum), microseconds(1))), maximum_(maximum) {}

  void event(Nanoseconds now) {
    since_ = now;
    handshake_ = minimum_;
  }
  // From a poll at `now` to the next one.
  Nanoseconds next(Nanoseconds now) {
    const Nanoseconds wanted = std::max(handshake_, (now - since_) / share);
    handshake_ = std::clamp(2 * handshake_, microseconds(1), usual_);
    return std::clamp(wanted, minimum_, maximum_);
  }

 private:
  static constexpr Nanoseconds share = 4;
  Nanoseconds minimum_;
  Nanoseconds usual_;
  Nanoseconds maximum_;
  Nanoseconds since_ = 0;
  Nanoseconds handshake_ = 0;  // grows from the minimum to the usual interval
};

// How soon to poll again where a network moves the data itself and a poll only takes the next step of an operation.

// Such a poll is over in a microsecond, so that PollingInterval learns nothing from it. Two kinds of traffic look the
// same to it. In a collective operation's rounds the next arrival follows from what this poll began: for as long as
// nobody looks the network is idle, and a wake takes one round however long the rest before it was. Of independent
// messages more arrive in a longer rest, and looking sooner only costs more wakes. Which of them it is shows by trying:
// of rounds a short rest finds as many steps a wake as a long one did, and so a multiple of them in the time.
//
// A round pays for a wake if it takes the network longer than the wake takes the program's core: so much has passed if
// what is awaited was not there yet after a rest of that length.
class RoundsInterval {
 public:
  // One that traffic caused.
  struct Wake {
    std::uint64_t steps = 0;  // that its polls took
    Nanoseconds since = 0;    // the wake before
    bool awaited = false;     // what woke came some time after the rest had ended
  };

  // From a poll to the next look, where else it would be `usual`; `least`: what a wake takes.
  Nanoseconds rest(Nanoseconds usual, Nanoseconds least) const {
    switch (mode_) {
      case Mode::usual:
        return usual;
      case Mode::checking:
        return std::min(usual, times_longer * short_.time / std::max<std::int64_t>(short_.wakes, 1));
      case Mode::trying:
      case Mode::following:
      default:
        return std::min(usual, least);
    }
  }

  void after_wake(const Wake& wake) {
    if (wake.steps == 0) return;
    switch (mode_) {
      case Mode::usual:
        long_.add(wake);
        if (++wakes_ >= until_trying_) begin(Mode::trying);
        break;
      case Mode::trying:
        short_.add(wake);
        if (!wake.awaited)
          give_up();
        else if (++wakes_ == tries)
          decide();
        break;
      case Mode::following:
        follow(wake);
        break;
      case Mode::checking:
      default:
        check(wake);
    }
  }

 private:
  enum class Mode { usual, trying, following, checking };
  struct Found {
    std::int64_t steps = 0;
    Nanoseconds time = 0;
    std::int64_t wakes = 0;

    void add(const Wake& wake) {
      if (wakes == most_remembered) *this = {steps / 2, time / 2, wakes / 2};
      steps += static_cast<std::int64_t>(wake.steps);
      time += wake.since;
      ++wakes;
    }
  };

  void begin(Mode mode) {
    mode_ = mode;
    wakes_ = 0;
    too_soon_ = 0;
    if (mode == Mode::trying) short_ = {};
    if (mode == Mode::usual) long_ = {};
  }

  void give_up() {
    begin(Mode::usual);
    until_trying_ = std::min(2 * until_trying_, most_until_trying);
  }

  void decide() {
    const bool brings_more = short_.steps * long_.time >= more * long_.steps * short_.time;
    if (!brings_more) {
      give_up();
      return;
    }
    begin(Mode::following);
    until_trying_ = first_until_trying;
  }

  void follow(const Wake& wake) {
    short_.add(wake);
    too_soon_ = std::max(0, too_soon_ + (wake.awaited ? -1 : 2));
    if (too_soon_ > most_too_soon)
      give_up();
    else if (++wakes_ == until_checking)
      begin(Mode::checking);
  }

  void check(const Wake& wake) {
    const bool stream = static_cast<std::int64_t>(wake.steps) * short_.wakes >= more * short_.steps;
    if (stream)
      give_up();
    else
      begin(Mode::following);
  }

  static constexpr int first_until_trying = 4;
  static constexpr int most_until_trying = 256;
  static constexpr int tries = 3;
  static constexpr int until_checking = 32;
  static constexpr int times_longer = 4;  // a rest that is to find more of a stream
  static constexpr int more = 2;
  static constexpr int most_too_soon = 6;
  static constexpr std::int64_t most_remembered = 32;

  Mode mode_ = Mode::usual;
  int wakes_ = 0;  // in this mode
  int until_trying_ = first_until_trying;
  int too_soon_ = 0;
  Found long_;
  Found short_;
};

}  // namespace progress_engine
