// SPDX-License-Identifier: BSD-3-Clause
#include "wakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "common/errors.h"
#include "core/polling_interval.hpp"

namespace simulated {

int threads_beside(const AsyncThread& async, int rank, int ranks) {
  return std::cmp_equal(async.beside.size(), ranks) ? async.beside[static_cast<std::size_t>(rank)] : 1;
}

Turns::Turns(const AsyncThread& async, int rank, int ranks)
    : slice_(async.slice), beside_(threads_beside(async, rank, ranks)) {
  int before = 0;  // places for threads are filled in the order of the ranks
  for (int host = 0; host < ranks; ++host) {
    const int there = threads_beside(async, host, ranks);
    if (rank < before + there) {
      beside_thread_ = there;
      place_ = rank - before + 1;
      return;
    }
    before += there;
  }
}

Seconds Turns::computed(Seconds from, Seconds work) const {
  if (beside_ == 0) {
    return from + work;
  }
  const Seconds begin = program_at(from);
  const Seconds cycle = slice_ * (beside_ + 1);
  const Seconds left = slice_ - std::fmod(begin, cycle);  // of the turn that it has then
  if (work <= left) {
    return begin + work;
  }
  const Seconds rest = work - left;
  const double whole = std::ceil(rest / slice_) - 1;  // turns before the last
  return begin + left + (cycle - slice_) + (whole * cycle) + rest - (whole * slice_);
}

Seconds Turns::at(Seconds time, int others, int place) const {
  if (others == 0) {
    return time;
  }
  const Seconds cycle = slice_ * (others + 1);
  const Seconds since = std::fmod(time - (slice_ * place) + cycle, cycle);  // its last turn began
  return since < slice_ ? time : time + cycle - since;
}

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

/// The engine counts time in whole nanoseconds.
progress_engine::Nanoseconds nanoseconds(Seconds time) { return std::llround(time * 1e9); }
Seconds seconds(progress_engine::Nanoseconds time) { return static_cast<double>(time) * 1e-9; }

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
      rounds_.after_wake({.steps = static_cast<std::uint64_t>(poll.steps),
                          .since = nanoseconds(end - last_poll_),
                          .awaited = poll.at > gathered_ + (price_ / 2)});
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
    const auto rest = rounds_.rest(nanoseconds(interval_), nanoseconds(std::min(minimum_, price_)));
    gathered_ = busy ? end + seconds(rest) : end;
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
  progress_engine::RoundsInterval rounds_;  // the engine's own: where the card moves the data
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
