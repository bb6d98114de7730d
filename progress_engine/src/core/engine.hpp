// SPDX-License-Identifier: BSD-3-Clause
// The engine: threads that call a progress function as the policy says. It knows neither MPI nor sockets.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/activity.hpp"
#include "core/progress.hpp"
#include "core/thread_placement.hpp"
#include "platform/platform.hpp"
#include "policy/settings.hpp"
#include "telemetry/phases.hpp"
#include "telemetry/thread_usage.hpp"
#include "wait/event_source.hpp"
#include "wait/user_wait.hpp"
#include "wakeup/doorbell.hpp"

namespace progress_engine {

class Engine;

// How long an engine thread may take to end: MPI goes on after us, or the process ends anyhow.
constexpr Nanoseconds join_timeout = seconds(10);
constexpr Nanoseconds exit_timeout = seconds(1) / 5;

// One engine thread. The counters have a single writer, the thread itself.
struct Worker {
  using Loop = void (*)(Engine&, Worker&);

  Engine* engine = nullptr;
  const char* role = "";
  Loop loop = nullptr;
  bool idle_class = false;
  bool nicest = false;  // in place of the idle class
  pthread_t thread{};
  std::atomic<int> tid{0};
  std::atomic<bool> waits_for_loader{false};  // it has not begun: who made it may be inside dlopen
  std::atomic<Nanoseconds> slice{0};          // 0: the kernel does not say
  std::atomic<std::uint64_t> polls{0};
  std::atomic<std::uint64_t> productive_polls{0};
  std::atomic<std::uint64_t> wakes{0};
  std::array<std::atomic<std::uint64_t>, wake_source_names.size()> wake_sources{};
  std::atomic<std::uint64_t> parks{0};
  std::atomic<std::uint64_t> fences{0};      // parks that interrupted the program's other CPUs
  std::atomic<std::uint64_t> answers{0};     // polls before which a neighbour had rung
  std::atomic<std::uint64_t> for_others{0};  // productive polls, see Activity::only_others_wait()
  std::atomic<bool> lifted{false};           // an idle thread that another one lifted to the normal class
  std::atomic<Nanoseconds> disarmed{0};      // that it left the program alone because polling did not pay
  std::atomic<Nanoseconds> beside{0};        // see Engine::observe()
  std::atomic<bool> ended{false};
  ThreadUsage final_usage;  // valid once ended
  // Its own, between two observations:
  bool was_beside = false;
  Nanoseconds observed = 0;
  bool naps_first = false;  // the last park was a short one
  std::vector<int> cpus;    // among which it may look for a spare one: before placement=spare bound it to one

  void woke(WakeSource source) {
    add(wakes, 1);
    add(wake_sources[static_cast<std::size_t>(source)], 1);
  }
};

class Engine {
 public:
  // `events` may be null: then points=events goes by time and the doorbell. So may the doorbell.
  Engine(Policy policy, std::unique_ptr<ProgressFunction> progress, std::unique_ptr<EventSource> events,
         std::unique_ptr<Doorbell> doorbell = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Starts the threads of the policy. Throws std::system_error; then none is left running.
  void start();
  // Ends and joins the threads. False if one did not end within `limit` (it sits in a poll that another thread blocks):
  // then it is left behind, and neither the engine nor its progress function may be destroyed.
  bool stop(Nanoseconds limit);

  // Destroys the progress function, for those that must go before MPI_Finalize; only after stop() returned true.
  void release_progress_function() { progress_function_.reset(); }

  // By the program. Any thread.
  void pause();
  void resume();
  // Pauses for good.
  void forbid() {
    forbidden_ = true;
    pause();
  }
  // Also in a turn of trial_ms in which the engine is off.
  bool paused() const { return paused_.load(std::memory_order_relaxed) || disarmed_.load(std::memory_order_relaxed); }

  // ---- the program's side: called in its MPI calls, by any of its threads
  Activity& activity() { return activity_; }
  const Activity& activity() const { return activity_; }
  // After a call that may have made work, by the thread of this slot: wakes a parked thread, polls if the policy has
  // points=explicit.
  PE_ALWAYS_INLINE void after_call(const ThreadSlot& slot) {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the light fence of those that have membarrier
    if (more_after_calls_)
      do_more_after_call();
    else if (parking_.anyone() && activity_.may_need_progress(slot, wake_limit_)) [[unlikely]]
      wake_for_work();
  }

  // The engine's thread may ask when the program's next call ends: then called() is that time, and 0 before.
  void ask_for_call() {
    called_.store(0, std::memory_order_relaxed);
    parking_.ask();
  }
  Nanoseconds called() const { return called_.load(std::memory_order_relaxed); }

  // A window came to be: others will connect to reach into it.
  void expect_connections() { expects_connections_.store(true, std::memory_order_relaxed); }

  // Some calls must not run beside a poll. Between these two nobody polls; sections add up. The first returns when
  // the poll that runs has ended.
  void begin_exclusive();
  void end_exclusive() { exclusive_sections_.fetch_sub(1, std::memory_order_release); }
  bool in_exclusive_section() const { return exclusive_sections_.load(std::memory_order_relaxed) > 0; }

  // ---- the polling points' side
  const Policy& policy() const { return policy_; }
  EventSource* events() { return events_.get(); }
  Doorbell* doorbell() { return doorbell_.get(); }
  // Whether expect_connections() was called since the last time.
  bool take_expected_connections() {
    return expects_connections_.load(std::memory_order_relaxed) && expects_connections_.exchange(false);
  }
  // That the program's environment announced when the engine was made.
  std::size_t computing_threads() const { return placement_.computing_threads; }
  bool stopping() const { return stopping_.load(std::memory_order_relaxed) != 0; }
  bool may_poll() const;
  // One burst; nothing if another thread is in one. What it moved may concern neighbours: it rings them. `events` are
  // armed behind it.
  BurstResult poll(Worker& worker, EventSource* events = nullptr);
  // Counts what ended it: a call, or the time; a stop is no wake.
  void park(Worker& worker);
  // Waits in user mode until rung, unless `has_work()` holds; at most for `bound`. Keeps the CPU, see
  // wait/user_wait.hpp.
  template <typename HasWork>
  void watch(Worker& worker, HasWork&& has_work, Nanoseconds bound);
  // By an engine thread at each of its turns, for the report: adds up for how long something was pending while no
  // thread of the program was inside MPI, as far as the turns show it.
  void observe(Worker& worker);
  // Ends early only when the engine stops.
  void sleep(Nanoseconds time) { futex_wait(stopping_, 0, time); }

  // ---- telemetry
  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
  const Worker& calls() const { return calls_; }
  const Doorbell* doorbell() const { return doorbell_.get(); }
  // From the phases in which the engine was on and off.
  Verdict verdict() const { return phases_.verdict(); }
  // How long it was on, and off by the program's or the settings' wish.
  Nanoseconds time_on() const { return phases_.total(true, now()); }
  Nanoseconds time_off() const { return phases_.total(false, now()); }

 private:
  void add_worker(const char* role, Worker::Loop loop, bool idle_class = false);
  bool polls_without_pause() const;
  void avoid_priority_inversion();
  static void launch(Worker& worker);
  static void enter(Worker& worker);
  void give_up(Worker& worker, const char* why);
  void wake_for_work();
  void do_more_after_call();
  void poll_from_call();
  void take_turn();
  void note_phase() { phases_.change(!paused(), now(), activity_.completed()); }
  bool take_progress_function(Worker& worker);
  void lift_if_idle(Worker& holder);
  void return_progress_function(Worker& worker);
  void account(Worker& worker, const BurstResult& result);
  void arm(EventSource& events, BurstResult& result);

  const Policy policy_;
  bool more_after_calls_ = true;
  std::int64_t wake_limit_ = 0;  // of what is pending, in bytes, see Activity::needs_progress(); 0: each call asks
  std::unique_ptr<ProgressFunction> progress_function_;
  std::unique_ptr<EventSource> events_;
  std::unique_ptr<Doorbell> doorbell_;
  const ThreadPlacement placement_;
  Activity activity_;
  Parking parking_;
  alignas(128) std::atomic<Worker*> poller_{nullptr};  // who uses the progress function
  PollJudge judge_;                                    // the poller's
  std::atomic<std::uint32_t> stopping_{0};
  std::atomic<bool> paused_{false};
  std::atomic<bool> forbidden_{false};
  std::atomic<bool> disarmed_{false};
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<Nanoseconds> called_{0};
  PhaseMeter phases_;
  std::atomic<int> exclusive_sections_{0};
  std::atomic<bool> expects_connections_{false};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::recursive_mutex ends_;  // exit may be called from where it is held
  Worker calls_;               // counts the polls inside the program's calls (by the poller)
};

// ---- the loops of its threads, one a polling point. Each returns when the engine stops.

// Polls, waits as the setting `wait` says (not at all, CPU hints, sched_yield, sleeping timer_us, watching a word in
// user mode, sleeping until there is work), polls again.
void run_dedicated(Engine& engine, Worker& worker);
// Polls at a fixed period.
void run_timer(Engine& engine, Worker& worker);
// The same on a SCHED_IDLE thread, with its own, short period; 0 = only yields.
void run_idle(Engine& engine, Worker& worker);
// Parked while there is nothing to do; else woken by traffic, not more often than the polling interval allows.
void run_events(Engine& engine, Worker& worker);

template <typename HasWork>
void Engine::watch(Worker& worker, HasWork&& has_work, Nanoseconds bound) {
  const auto wait = [](const RealAtomics::Word& word, std::uint32_t seen, Nanoseconds limit) {
    user_wait(word, seen, limit, wait_instruction());
  };
  if (parking_.watch([&] { return stopping() || has_work(); }, wait, bound))
    worker.woke(has_work() ? WakeSource::call : WakeSource::timer);
}

}  // namespace progress_engine
