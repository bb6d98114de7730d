// SPDX-License-Identifier: BSD-3-Clause
#include "wakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "common/errors.h"

namespace simulated {
namespace {

constexpr Seconds microsecond = 1e-6;

/// The engine's settings that the rules below read, with their defaults (progress_engine/src/policy/settings.cpp, and
/// of eager_bytes those of the preset adaptive, which alone reads it here).
constexpr std::array<std::pair<const char*, double>, 6> known_settings{{
    {"timer_us", 2000},
    {"min_distance_us", 100},
    {"start_distance_us", 500},
    {"max_distance_us", 4000},
    {"rest_us", 10000},
    {"eager_bytes", 16384},
}};

double number(const Variant& variant, const char* name) {
  const auto found = variant.settings.find(name);
  if (found != variant.settings.end()) {
    return std::strtod(found->second.c_str(), nullptr);
  }
  const auto* entry =
      std::ranges::find_if(known_settings, [&](const auto& known) { return known.first == std::string(name); });
  return entry->second;
}

Seconds setting(const Variant& variant, const char* name) { return number(variant, name) * microsecond; }

/// The MPI as it is: nobody.
class Nobody final : public Wakes {
 public:
  std::optional<Seconds> next(Seconds /*now*/, bool /*traffic*/) override { return {}; }
};

/// A thread that polls at a fixed period, whatever happens.
class Timer : public Wakes {
 public:
  explicit Timer(Seconds period) : period_(period) {}
  std::optional<Seconds> next(Seconds now, bool /*traffic*/) override { return std::max(now, due_); }
  void polled(const Poll& poll) override { due_ = poll.at + poll.took + period_; }

 private:
  Seconds period_;
  Seconds due_ = 0;
};

/// The timer, and behind it a thread of the idle class, which has the core while the program does not compute: inside
/// MPI the program sleeps until a poll of that thread has completed what it waits for.
class Idle final : public Timer {
 public:
  Idle(Seconds period, Seconds later) : Timer(period), later_(later) {}
  [[nodiscard]] Seconds sleeps() const override { return later_; }

 private:
  Seconds later_;
};

/// A thread that polls all the time and shares the core with the program: the scheduler gives it to both by turns. A
/// program that waits finds the MPI's lock taken, and gives its turn away.
class BusyThread final : public Wakes {
 public:
  explicit BusyThread(Seconds slice) : slice_(slice) {}
  std::optional<Seconds> next(Seconds now, bool /*traffic*/) override { return std::max(now, due_); }
  void polled(const Poll& poll) override { due_ = poll.at + (2 * slice_); }
  [[nodiscard]] Seconds stays() const override { return slice_; }
  void computes(Seconds now) override { due_ = due_ > now ? due_ : now + slice_; }
  [[nodiscard]] Seconds looks() const override { return slice_; }

 private:
  Seconds slice_;
  Seconds due_ = 0;
};

/// The MPI's own thread where it alone moves the messages, by turns with whoever is on its core.
class HandedOver final : public Wakes {
 public:
  explicit HandedOver(const Turns& turns) : turns_(turns) {}
  std::optional<Seconds> next(Seconds /*now*/, bool /*traffic*/) override { return {}; }
  [[nodiscard]] const Turns* turns() const override { return &turns_; }

 private:
  Turns turns_;
};

/// RoundsInterval of the engine (progress_engine/src/core/rounds_interval.hpp, which says why): where the card moves
/// the data, rounds of collectives are followed one by one, and streams of messages are not.
class RoundsInterval {
 public:
  struct Wake {
    int steps = 0;
    Seconds since = 0;
    bool awaited = false;
  };

  [[nodiscard]] Seconds rest(Seconds usual, Seconds least) const {
    switch (mode_) {
      case Mode::usual:
        return usual;
      case Mode::checking:
        return std::min(usual, times_longer * short_.time / std::max(short_.wakes, 1.0));
      case Mode::trying:
      case Mode::following:
      default:
        return std::min(usual, least);
    }
  }

  void after_wake(const Wake& wake) {
    if (wake.steps == 0) {
      return;
    }
    switch (mode_) {
      case Mode::usual:
        long_.add(wake);
        if (++wakes_ >= until_trying_) {
          begin(Mode::trying);
        }
        break;
      case Mode::trying:
        attempt(wake);
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
    double steps = 0;
    Seconds time = 0;
    double wakes = 0;

    void add(const Wake& wake) {
      if (wakes >= most_remembered) {
        *this = {.steps = steps / 2, .time = time / 2, .wakes = wakes / 2};
      }
      steps += wake.steps;
      time += wake.since;
      ++wakes;
    }
  };

  void begin(Mode mode) {
    mode_ = mode;
    wakes_ = 0;
    too_soon_ = 0;
    if (mode == Mode::trying) {
      short_ = {};
    }
    if (mode == Mode::usual) {
      long_ = {};
    }
  }

  void give_up() {
    begin(Mode::usual);
    until_trying_ = std::min(2 * until_trying_, most_until_trying);
  }

  void attempt(const Wake& wake) {
    short_.add(wake);
    if (!wake.awaited) {
      give_up();
      return;
    }
    if (++wakes_ < tries) {
      return;
    }
    if (short_.steps * long_.time < more * long_.steps * short_.time) {
      give_up();
      return;
    }
    begin(Mode::following);
    until_trying_ = first_until_trying;
  }

  void follow(const Wake& wake) {
    short_.add(wake);
    too_soon_ = std::max(0, too_soon_ + (wake.awaited ? -1 : 2));
    if (too_soon_ > most_too_soon) {
      give_up();
    } else if (++wakes_ == until_checking) {
      begin(Mode::checking);
    }
  }

  void check(const Wake& wake) {
    if (wake.steps * short_.wakes >= more * short_.steps) {
      give_up();
    } else {
      begin(Mode::following);
    }
  }

  static constexpr int first_until_trying = 4;
  static constexpr int most_until_trying = 256;
  static constexpr int tries = 3;
  static constexpr int until_checking = 32;
  static constexpr double times_longer = 4;
  static constexpr double more = 2;
  static constexpr int most_too_soon = 6;
  static constexpr double most_remembered = 32;

  Mode mode_ = Mode::usual;
  int wakes_ = 0;
  int until_trying_ = first_until_trying;
  int too_soon_ = 0;
  Found long_;
  Found short_;
};

/// The preset adaptive (progress_engine/src/core/event_loop.hpp): after a poll that moved something it lets more gather
/// for an interval that follows the rate; then the next traffic wakes it, or its timer. It is off while polling did not
/// pay.
class Adaptive final : public Wakes {
 public:
  Adaptive(const Variant& variant, Seconds wake_cost)
      : minimum_(setting(variant, "min_distance_us")),
        start_(std::clamp(setting(variant, "start_distance_us"), minimum_, setting(variant, "max_distance_us"))),
        maximum_(setting(variant, "max_distance_us")),
        first_timeout_(setting(variant, "timer_us")),
        first_backoff_(setting(variant, "rest_us")),
        eager_(static_cast<Bytes>(number(variant, "eager_bytes"))),
        wake_cost_(wake_cost),
        interval_(start_),
        timeout_(first_timeout_),
        backoff_(first_backoff_) {}

  void pending(Seconds now, bool something) override {
    something_ = something;
    if (something) {
      first_ = true;
      asleep_since_ = now;
      gathered_ = now + interval_;  // the call that began it has done what could be done
      timeout_ = first_timeout_;
    } else {
      learnt_ = std::max(interval_, start_);
      interval_ = start_;
      settle();
    }
  }

  [[nodiscard]] Bytes eager() const override { return eager_; }

  std::optional<Seconds> next(Seconds now, bool traffic) override {
    if (!something_) {
      return {};  // parked
    }
    traffic_ = traffic;
    return std::max({now, off_until_, gathered_, traffic || first_ ? now : asleep_since_ + timeout_});
  }

  void polled(const Poll& poll) override {
    const Seconds end = poll.at + poll.took;
    if (traffic_ && !first_ && poll.moving <= price_) {
      rounds_.after_wake(
          {.steps = poll.steps, .since = end - last_poll_, .awaited = poll.at > gathered_ + (price_ / 2)});
    }
    price_paid_ += wake_cost_ + disturbance + (poll.took - poll.moving);
    if (poll.moved) {
      gain_ += poll.moving + (traffic_ ? poll.at - last_poll_ : 0);
    }
    last_poll_ = end;
    first_ = false;
    price_ += (wake_price + (poll.moved ? 0 : poll.took) - price_) / 8;
    if (poll.late) {
      learnt_ = interval_ = std::max(minimum_, interval_ / 2);
    } else if (poll.moving > price_) {
      const Seconds wanted = interval_ * worth * price_ / poll.moving;
      interval_ = std::clamp(wanted, std::max(minimum_, interval_ / 2),
                             std::max(minimum_, std::min(maximum_, std::max(interval_ * 3 / 2, learnt_))));
    }
    const bool busy = poll.moved || traffic_;
    gathered_ = busy ? end + rounds_.rest(interval_, std::min(minimum_, price_)) : end;
    asleep_since_ = gathered_;
    timeout_ = busy ? first_timeout_ : std::min(2 * timeout_, 8 * first_timeout_);
  }

 private:
  // A phase is over: did its polls pay for themselves?
  void settle() {
    account_ = std::min(account_ + gain_ - price_paid_, ceiling);
    gain_ = price_paid_ = 0;
    if (account_ > 0) {
      backoff_ = first_backoff_;
    }
    if (account_ < -debt && first_backoff_ > 0) {
      off_until_ = last_poll_ + backoff_;
      account_ = -(debt - trial);
      backoff_ = std::min(2 * backoff_, 8 * first_backoff_);
    }
  }

  // The engine's own constants.
  static constexpr Seconds wake_price = 20 * microsecond;
  static constexpr Seconds disturbance = 5 * microsecond;
  static constexpr Seconds debt = 500 * microsecond;
  static constexpr Seconds trial = 200 * microsecond;
  static constexpr Seconds ceiling = 5000 * microsecond;
  static constexpr double worth = 16;

  Seconds minimum_;
  Seconds start_;
  Seconds maximum_;
  Seconds first_timeout_;
  Seconds first_backoff_;
  Bytes eager_;
  Seconds wake_cost_;
  Seconds interval_;
  RoundsInterval rounds_;
  Seconds timeout_;
  Seconds backoff_;
  Seconds learnt_ = 0;
  Seconds price_ = wake_price;
  Seconds gathered_ = 0;
  Seconds asleep_since_ = 0;
  Seconds last_poll_ = 0;
  Seconds gain_ = 0;
  Seconds price_paid_ = 0;
  Seconds account_ = 0;
  Seconds off_until_ = 0;
  bool traffic_ = false;
  bool something_ = false;
  bool first_ = false;  // of a phase: whatever has arrived
};

/// What each variant is to the model. The engine's busy threads share the program's core, as an MPI's own does.
enum class Rule { nobody, timer, idle, adaptive, busy_thread };

const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> table{
      {"bare", Rule::nobody},        {"off", Rule::nobody},
      {"explicit", Rule::nobody},    {"timer", Rule::timer},
      {"idle", Rule::idle},          {"adaptive", Rule::adaptive},
      {"thread", Rule::busy_thread}, {"mpi-async", Rule::busy_thread},
  };
  return table;
}

}  // namespace

Variant variant_of(const std::string& preset, const std::map<std::string, std::string>& settings) {
  Variant variant{.name = preset, .preset = preset, .settings = settings};
  for (const auto& [name, text] : settings) {
    variant.name += fmt::format(":{}={}", name, text);
    if (!std::ranges::any_of(known_settings, [&](const auto& known) { return known.first == name; })) {
      continue;  // why_not says so
    }
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(value) || value < 0) {
      throw workloads::UsageError(fmt::format("--set {}={}: a number that is not negative is wanted", name, text));
    }
  }
  return variant;
}

std::string why_not(const Variant& variant, const Model& model) {
  const auto rule = rules().find(variant.preset);
  if (rule == rules().end()) {
    return fmt::format("variant {} has no model of its progress, so it is not simulated", variant.preset);
  }
  for (const auto& [name, text] : variant.settings) {
    if (std::ranges::none_of(known_settings, [&](const auto& known) { return known.first == name; })) {
      return fmt::format("the engine's setting {} is not in the model, so it is not simulated", name);
    }
  }
  if (variant.preset == "mpi-async" && !model.async.exists) {
    return "this MPI has no progress thread of its own";
  }
  if (rule->second == Rule::busy_thread && model.async.slice <= 0) {
    return "the model does not say for how long the scheduler gives a core to a busy thread, so it is not simulated";
  }
  return {};
}

bool polls(const Variant& variant) { return rules().at(variant.preset) != Rule::nobody; }

std::unique_ptr<Wakes> make_wakes(const Variant& variant, const Model& model, int rank, int ranks) {
  switch (rules().at(variant.preset)) {
    case Rule::timer:
      return std::make_unique<Timer>(setting(variant, "timer_us"));
    case Rule::idle:
      return std::make_unique<Idle>(setting(variant, "timer_us"), model.costs.managed);
    case Rule::adaptive:
      return std::make_unique<Adaptive>(variant, model.costs.wake);
    case Rule::busy_thread:
      if (variant.preset == "mpi-async" && model.async.hands_over) {
        return std::make_unique<HandedOver>(Turns(model.async, rank, ranks));
      }
      return std::make_unique<BusyThread>(model.async.slice);
    case Rule::nobody:
      break;
  }
  return std::make_unique<Nobody>();
}

}  // namespace simulated
