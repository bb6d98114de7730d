// SPDX-License-Identifier: BSD-3-Clause
// How soon to poll again where a network moves the data itself and a poll only takes the next step of an operation.
#pragma once

#include <algorithm>
#include <cstdint>

#include "platform/platform.hpp"

namespace progress_engine {

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
