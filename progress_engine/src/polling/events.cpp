// SPDX-License-Identifier: BSD-3-Clause
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
        distance_(microseconds(engine.policy().min_distance_us), microseconds(engine.policy().max_distance_us)) {}

  void run() {
    while (!engine_.stopping()) {
      if (engine_.may_poll())
        poll();
      else
        rest();
    }
  }

 private:
  void poll() {
    rests_ = 0;
    const auto burst = engine_.poll(worker_);
    if (burst.productive > 0 && !announced_) look_for_sources();
    distance_.after_wake(burst.productive_time);
    sleep(distance_.current());
    announced_ = true;
    if (engine_.may_poll()) announced_ = await_traffic();
  }

  // Work often comes back at once (a loop of small exchanges): parking and being rung each time would cost the program a
  // system call an exchange.
  void rest() {
    if (++rests_ <= engine_.policy().linger) {
      sleep(distance_.current());
      return;
    }
    engine_.park(worker_);
    add(worker_.wakes, 1);
    rests_ = 0;
    distance_.reset();
    if (++arms_ >= next_look_) look_for_sources();
  }

  bool await_traffic() {
    const Nanoseconds bound = microseconds(engine_.policy().timer_us);
    if (!events_) {
      sleep(bound);
      return true;
    }
    const bool traffic = events_->wait(bound);
    add(worker_.wakes, 1);
    return traffic;
  }

  void sleep(Nanoseconds time) {
    engine_.sleep(time);
    add(worker_.wakes, 1);
  }

  // Connections are made as they are first used. A poll that moved something unannounced says that a source is missing;
  // beside that we look ever more rarely, since looking costs some 50 us.
  void look_for_sources() {
    if (events_) events_->refresh();
    next_look_ = 2 * arms_ + 1;
  }

  Engine& engine_;
  Worker& worker_;
  EventSource* events_;
  WakeDistance distance_;
  int rests_ = 0;
  bool announced_ = false;
  std::uint64_t arms_ = 0;
  std::uint64_t next_look_ = 0;
};

}  // namespace

void run_events(Engine& engine, Worker& worker) { EventLoop(engine, worker).run(); }

}  // namespace progress_engine
