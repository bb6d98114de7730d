// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/arming.hpp"
#include "core/distance.hpp"
#include "core/engine.hpp"
#include "core/placement.hpp"
#include "polling/polling_points.hpp"

namespace progress_engine {
namespace {

class EventLoop {
 public:
  EventLoop(Engine& engine, Worker& worker)
      : engine_(engine),
        worker_(worker),
        events_(engine.policy().wait == Wait::epoll ? engine.events() : nullptr),
        doorbell_(engine.doorbell()),
        distance_(microseconds(engine.policy().min_distance_us), microseconds(engine.policy().start_distance_us),
                  microseconds(engine.policy().max_distance_us)),
        arming_(microseconds(engine.policy().rest_us), microseconds(8L * engine.policy().rest_us)),
        may_disarm_(engine.policy().rest_us > 0 && !engine.policy().managed_waiting),
        patience_(first_patience()) {
    if (events_ && doorbell_) events_->add(doorbell_->published().descriptor());
  }

  void run() {
    while (!engine_.stopping()) {
      if (!arming_.armed())
        leave_alone();
      else if (engine_.may_poll())
        work();
      else
        rest();
    }
  }

 private:
  void work() {
    if (!std::exchange(in_phase_, true)) polled_ = now();
    // It still computes: what the poll before won it would not have had by waiting at once.
    gain_ += std::exchange(won_, 0);
    const bool moved = poll();
    // Time for more to gather. After a wake for nothing there is nothing to gather: the next traffic wakes it.
    if (moved || traffic_) sleep(distance_.current());
    traffic_ = engine_.may_poll() && await_traffic();
  }

  // True if it moved something.
  bool poll() {
    const bool late = events_ && traffic_ && events_->came_late();
    const auto answers = worker_.answers.load(std::memory_order_relaxed);
    const auto burst = engine_.poll(worker_);
    const bool rung = worker_.answers.load(std::memory_order_relaxed) != answers;
    const bool from_here = rung || (doorbell_ && doorbell_->all_are_near());
    if (events_ && traffic_) events_->remember();
    moving_ += burst.productive_time;
    won_ = 0;
    const Nanoseconds last = std::exchange(polled_, now());
    if (burst.productive > 0)
      won_ = from_here ? won_here(burst.productive_time) : burst.productive_time + won_afar(last);
    distance_.after_wake({burst.productive_time, burst.idle_time, late});
    if (burst.productive > 0 && !traffic_) suspect_a_source();
    patience_ = burst.productive > 0 || traffic_ ? first_patience() : std::min(2 * patience_, 8 * first_patience());
    return burst.productive > 0;
  }

  void rest() {
    traffic_ = false;
    if (in_phase_) end_phase();
    settle();  // whoever waits at once rings for nothing, and has no phases
    if (!arming_.armed()) return;
    engine_.park(worker_);
    add(worker_.wakes, 1);
    patience_ = first_patience();
    suspect_a_source();
    // The call that rang has itself done what could be done; now the program may compute, or wait at once.
    sleep(distance_.current());
  }

  // ---- phases: from work to none, see core/arming.hpp
  void end_phase() {
    in_phase_ = false;
    won_ = 0;
    distance_.reset();
  }

  // What was had and paid since the last time.
  void settle() {
    const Nanoseconds cpu = cpu_time_of_this_thread() - cpu_;
    const auto wakes = static_cast<Nanoseconds>(worker_.wakes.load(std::memory_order_relaxed) - wakes_);
    if (may_disarm_) arming_.settle(gain_, cpu - moving_ + wakes * Arming::disturbance);
    begin_account();
  }

  void begin_account() {
    gain_ = moving_ = 0;
    cpu_ = cpu_time_of_this_thread();
    wakes_ = worker_.wakes.load(std::memory_order_relaxed);
  }

  // From neighbours nothing is on its way while the program computes: to copy on its own CPU now or later is the same.
  Nanoseconds won_here(Nanoseconds copying) {
    if (!has_spare_cpu_) has_spare_cpu_ = !spare_cpus(allowed_cpus(0), cpus_of_neighbours()).empty();
    return *has_spare_cpu_ ? copying : 0;
  }

  // The network worked since the last poll.
  Nanoseconds won_afar(Nanoseconds last) const { return traffic_ || !has_sockets() ? polled_ - last : 0; }

  void leave_alone() {
    sleep(arming_.rest());
    arming_.rested();
    begin_account();
  }

  // True if there was traffic; the timer stands behind it, for what neither a socket nor a neighbour announces.
  bool await_traffic() {
    bool traffic = false;
    const auto watch = [&] { traffic = events_->wait(patience_); };
    const bool may_be_rung = doorbell_ && doorbell_->anyone_rings();
    if (!events_ && !may_be_rung)
      engine_.sleep(patience_);
    else if (!may_be_rung)
      watch();
    else if (has_sockets())
      doorbell_->own().sleep_elsewhere(watch);
    else
      doorbell_->own().sleep(patience_);
    add(worker_.wakes, 1);
    return rung() || traffic;
  }

  bool rung() const {
    if (!doorbell_ || !doorbell_->own().rung()) return false;
    doorbell_->published().drain();
    return true;
  }

  void sleep(Nanoseconds time) {
    engine_.sleep(time);
    add(worker_.wakes, 1);
  }

  // Connections are made as they are first used. A poll that moved something unannounced may say that a source is
  // missing, and so may new work; we look ever more rarely, since looking costs some 50 us.
  void suspect_a_source() {
    if (++occasions_ < next_look_) return;
    if (events_) events_->refresh();
    if (doorbell_) doorbell_->look_around();
    next_look_ = occasions_ + std::min<std::uint64_t>(occasions_ + 1, most_occasions);
  }

  bool has_sockets() const { return events_ && events_->any(); }

  Nanoseconds first_patience() const { return microseconds(engine_.policy().timer_us); }

  Engine& engine_;
  Worker& worker_;
  EventSource* events_;
  Doorbell* doorbell_;
  WakeDistance distance_;
  Arming arming_;
  bool may_disarm_;  // who sleeps until the engine has moved his message cannot do without it
  Nanoseconds patience_;
  bool traffic_ = false;
  bool in_phase_ = false;
  Nanoseconds polled_ = 0;  // when
  Nanoseconds won_ = 0;     // by the last poll, see core/arming.hpp
  std::optional<bool> has_spare_cpu_;
  Nanoseconds gain_ = 0;  // since the account was settled, as are the next three
  Nanoseconds moving_ = 0;
  Nanoseconds cpu_ = 0;
  std::uint64_t wakes_ = 0;
  static constexpr std::uint64_t most_occasions = 64;
  std::uint64_t occasions_ = 0;
  std::uint64_t next_look_ = 0;
};

}  // namespace

void run_events(Engine& engine, Worker& worker) { EventLoop(engine, worker).run(); }

}  // namespace progress_engine
