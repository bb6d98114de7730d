// SPDX-License-Identifier: BSD-3-Clause
#include "core/arming.hpp"
#include "core/distance.hpp"
#include "core/engine.hpp"
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
        arming_(microseconds(engine.policy().rest_us), microseconds(16L * engine.policy().rest_us)),
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
    rests_ = 0;
    if (!in_phase_) begin_phase();
    poll();
    sleep(distance_.current());
    traffic_ = engine_.may_poll() && await_traffic();
  }

  void poll() {
    const bool late = events_ && traffic_ && events_->came_late();
    const auto burst = engine_.poll(worker_);
    if (events_ && traffic_) events_->remember();
    gain_ += burst.productive_time;
    distance_.after_wake({burst.productive_time, burst.idle_time, late});
    if (burst.productive > 0 && !traffic_) look_for_sources();
    patience_ = burst.productive > 0 || traffic_ ? first_patience() : std::min(2 * patience_, 8 * first_patience());
  }

  // Work often comes back at once (a loop of small exchanges): parking and being rung each time would cost the program
  // a system call an exchange.
  void rest() {
    traffic_ = false;
    if (in_phase_) end_phase();
    if (++rests_ <= engine_.policy().linger) {
      sleep(distance_.current());
      return;
    }
    engine_.park(worker_);
    add(worker_.wakes, 1);
    rests_ = 0;
    patience_ = first_patience();
    if (++arms_ >= next_look_) look_for_sources();
  }

  // ---- phases: from work to none, see core/arming.hpp
  void begin_phase() {
    in_phase_ = true;
    gain_ = 0;
    cpu_at_begin_ = cpu_time_of_this_thread();
  }

  void end_phase() {
    in_phase_ = false;
    distance_.reset();
    const Nanoseconds price = cpu_time_of_this_thread() - cpu_at_begin_ - gain_;
    arming_.phase_ended(gain_, engine_.policy().rest_us > 0 ? price : 0);
  }

  void leave_alone() {
    sleep(arming_.rest());
    arming_.rested();
  }

  // True if there was traffic; the timer stands behind it, for what neither a socket nor a neighbour announces.
  bool await_traffic() {
    bool traffic = false;
    const auto watch = [&] { traffic = events_->wait(patience_); };
    if (!events_ && !doorbell_)
      engine_.sleep(patience_);
    else if (!doorbell_)
      watch();
    else if (events_ && events_->any())
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

  // Connections are made as they are first used. A poll that moved something unannounced says that a source is missing;
  // beside that we look ever more rarely, since looking costs some 50 us.
  void look_for_sources() {
    if (events_) events_->refresh();
    if (doorbell_) doorbell_->look_around();
    next_look_ = 2 * arms_ + 1;
  }

  Nanoseconds first_patience() const { return microseconds(engine_.policy().timer_us); }

  Engine& engine_;
  Worker& worker_;
  EventSource* events_;
  Doorbell* doorbell_;
  WakeDistance distance_;
  Arming arming_;
  Nanoseconds patience_;
  bool traffic_ = false;
  bool in_phase_ = false;
  Nanoseconds gain_ = 0;
  Nanoseconds cpu_at_begin_ = 0;
  int rests_ = 0;
  std::uint64_t arms_ = 0;
  std::uint64_t next_look_ = 0;
};

}  // namespace

void run_events(Engine& engine, Worker& worker) { EventLoop(engine, worker).run(); }

}  // namespace progress_engine
