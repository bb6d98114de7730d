// SPDX-License-Identifier: BSD-3-Clause
// The communication thread (Vaidyanathan et al., SC 2015): takes commands from a queue, and between them advances what
// they have started. It knows no MPI.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/progress.hpp"
#include "core/thread_placement.hpp"
#include "platform/platform.hpp"
#include "platform/scheduling.hpp"
#include "telemetry/thread_usage.hpp"
#include "wait/event_source.hpp"

namespace progress_engine::offload {

// The command queue: bounded and lock-free, of pointers, many producers, many consumers (D. Vyukov's bounded MPMC
// queue: each cell has a sequence number that says whose turn it is). Commands come out in the order in which their
// pushes succeeded: a thread that learns of another's push, and then pushes, comes after it.

template <typename T, typename Atomics = RealAtomics>
class CommandQueue {
 public:
  // `capacity` must be a power of two.
  explicit CommandQueue(std::size_t capacity) : mask_(capacity - 1), cells_(std::make_unique<Cell[]>(capacity)) {
    for (std::size_t i = 0; i < capacity; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
  }

  // False if it is full. The pointee is the consumer's until it says otherwise.
  bool push(T* item) {
    std::size_t ticket = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[ticket & mask_];
      const auto ahead = static_cast<std::intptr_t>(cell.turn.load(std::memory_order_acquire) - ticket);
      if (ahead < 0) return false;
      if (ahead > 0) {
        ticket = tail_.load(std::memory_order_relaxed);
      } else if (tail_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) {
        cell.item = item;
        cell.turn.store(ticket + 1, std::memory_order_release);
        return true;
      }
    }
  }

  // Null if nothing is there.
  T* pop() {
    std::size_t ticket = head_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[ticket & mask_];
      const auto ahead = static_cast<std::intptr_t>(cell.turn.load(std::memory_order_acquire) - (ticket + 1));
      if (ahead < 0) return nullptr;
      if (ahead > 0) {
        ticket = head_.load(std::memory_order_relaxed);
      } else if (head_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) {
        T* item = cell.item;
        cell.turn.store(ticket + mask_ + 1, std::memory_order_release);
        return item;
      }
    }
  }

  // What pop() would give; while nobody else pops.
  T* front() const {
    const std::size_t ticket = head_.load(std::memory_order_relaxed);
    const Cell& cell = cells_[ticket & mask_];
    return cell.turn.load(std::memory_order_acquire) == ticket + 1 ? cell.item : nullptr;
  }

  // Whether a pop() would have found something at some time during this call.
  bool empty() const {
    const std::size_t ticket = head_.load(std::memory_order_relaxed);
    return cells_[ticket & mask_].turn.load(std::memory_order_acquire) == ticket;
  }

 private:
  // Neighbouring cells share cache lines: spread out, a burst of commands would cost the consumer a miss each.
  struct Cell {
    Atomics::template Atomic<std::size_t> turn{0};
    T* item = nullptr;
  };

  const std::size_t mask_;
  const std::unique_ptr<Cell[]> cells_;
  alignas(128) Atomics::template Atomic<std::size_t> tail_{0};
  alignas(128) Atomics::template Atomic<std::size_t> head_{0};
};

// What the queue carries. The memory is the caller's; the communication thread does not touch it after execute() made
// it known that it is done.
struct Command {
  void (*execute)(Command&) = nullptr;
  bool brief = false;  // never waits for anybody, so that a stand-in may execute it
};

// What the commands have started; the communication thread's alone.
class Progress {
 public:
  Progress() = default;
  virtual ~Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // One pass over what is pending. True if something completed.
  virtual bool advance() = 0;
  virtual bool pending() const = 0;
  // One pass of progress for others although nothing is pending here.
  virtual void nudge() = 0;
  // Others may need our progress at any time: a window exists.
  virtual bool exposed() const = 0;
  // Who sleeps until something of it completes looks around, see CommunicationThread::stand_down().
  virtual void rouse_waiters() {}
};

// How the communication thread spins where the program's threads have no other CPU than its own.
//
// Spinning is worth it while the others only wait for messages: they get their turn at each pass, and come back soon. A
// thread that computes does not: it keeps the CPU for a whole slice of the scheduler. Beside one it is better to sleep
// and to be woken by traffic, which the scheduler answers at once, until a sleep finds the CPU idle.
class AdaptiveSpin {
 public:
  bool may_spin() const { return !somebody_computes_; }

  // One turn for the others. `work_left()`: whether they left something to do.
  template <typename WorkLeft>
  void let_others_run(WorkLeft&& work_left) {
    const Nanoseconds begin = now();
    sched_yield();
    somebody_computes_ = now() - begin > turn_of_one_who_computes && !work_left();
  }

  // After a sleep of that length, in which the process used that much CPU time.
  void slept(Nanoseconds length, Nanoseconds used) {
    if (2 * used < length) somebody_computes_ = false;
  }

 private:
  static constexpr Nanoseconds turn_of_one_who_computes = microseconds(200);
  bool somebody_computes_ = false;
};

struct CommunicationThreadPolicy {
  std::size_t queue = 4096;
  Nanoseconds spin = microseconds(20);  // fruitless passes before it sleeps
  bool shares_cpu = false;              // the program's threads have no other CPU: it lets them run between two passes
  bool sleeps = true;                   // false: it spins for ever
  // The same while a thread of the program waits, who would spin in the MPI itself; with a turn for others at each
  // pass.
  Nanoseconds awaited_spin = microseconds(10000);
  Nanoseconds longest_nap = microseconds(1000);
  int burst = 3;  // fruitless passes in a row before it sleeps, at least
  Scheduling scheduling{};
  ThreadPlacement placement{};  // NOLINT(readability-redundant-member-init): else GCC warns where others are named
};

struct CommunicationThreadCounters {
  std::atomic<std::uint64_t> commands{0};
  std::atomic<std::uint64_t> passes{0};
  std::atomic<std::uint64_t> naps{0};
  std::atomic<std::uint64_t> rings{0};      // wake-ups by a submitting thread
  std::atomic<std::uint64_t> full{0};       // submissions that found the queue full
  std::atomic<std::uint64_t> stand_ins{0};  // passes by threads of the program that wait
  std::atomic<std::uint64_t> turns{0};      // local calls by them
  std::atomic<std::uint64_t> traffic{0};    // naps that a socket ended
  std::atomic<Nanoseconds> beside{0};       // of naps while something was pending and nobody waited
};

// While it lives, the calling thread stands in for the communication thread, which waits for it.
class StandIn {
 public:
  StandIn();
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
};

// While it lives, the calling thread is in the MPI beside the communication thread, where the MPI permits that, and
// moves what is pending.
class CallBeside {
 public:
  CallBeside() { number.fetch_add(1, std::memory_order_relaxed); }
  ~CallBeside() { number.fetch_sub(1, std::memory_order_relaxed); }
  CallBeside(const CallBeside&) = delete;
  CallBeside& operator=(const CallBeside&) = delete;
  static bool any() { return number.load(std::memory_order_relaxed) > 0; }

 private:
  const StandIn here_;
  static inline std::atomic<int> number{0};
};

class CommunicationThread {
 public:
  CommunicationThread(const CommunicationThreadPolicy& policy, std::unique_ptr<EventSource> events);
  ~CommunicationThread();
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  // Starts the thread. Throws std::system_error.
  void start();
  // Ends the thread after the commands that are in the queue. False if it did not end within `limit`: it sits in a
  // call, and this must not be destroyed.
  bool stop(Nanoseconds limit);

  // The thread calls nothing of the MPI until the next command. Returns once that holds, after `limit` at the latest.
  void pause(Nanoseconds limit);

  // Any thread but the communication thread. Waits while the queue is full.
  void submit(Command& command) {
    if (!hand_over(command)) [[unlikely]]
      execute_here(command);
  }
  // The same of a command that its submitter must not execute. False, and not done, once this thread has stood down.
  bool hand_over(Command& command) {
    if (stood_down()) [[unlikely]]
      return false;
    if (!queue_.push(&command)) [[unlikely]]
      push_until_taken(command);
    light_fence();
    if (asleep_.load(std::memory_order_relaxed)) [[unlikely]]
      wake();
    return true;
  }

  // By a thread of the program that waits, where it shares its CPU with the communication thread and the MPI may be
  // called by any one thread at a time: one pass in that thread's place, which sleeps meanwhile; `time` is now().
  // `refused`: that thread must do it, a command is not brief.
  enum class Pass { idle, moved, refused };
  Pass stand_in(Nanoseconds time);
  // The stand-in sleeps, though there is work left.
  void end_stand_in();

  // By a thread of the program, on the same condition: `work`, which waits for nobody, between two turns of the
  // communication thread and after all commands that are in the queue. False, and not done, where that thread is busy.
  template <typename Work>
  bool take_turn(Work&& work) {
    if (!enter_soon()) return false;
    const auto [mine, served] = begin_turn();
    if (mine) {
      const StandIn here;
      work();
    }
    end_turn(served);
    return mine;
  }

  // ---- standing down, where the MPI may be called by any one thread at a time

  // By the communication thread: `look` is asked every 10 ms from now on, by this thread, until it says true.
  using Look = bool (*)();
  void watch(Look look) { look_ = look; }
  // By the communication thread, for good: each command is executed by who submits it, and who waits makes the
  // progress. This thread executes what was in the queue, and calls nothing else.
  void stand_down();
  bool stood_down() const { return stood_down_.load(std::memory_order_relaxed); }
  // By a thread of the program that waits after that: one pass of progress, unless another thread is at it.
  void work_once();

  // There is something to poll for that no command brings.
  void rouse() {
    if (asleep_.load(std::memory_order_relaxed)) wake();
  }

  // By the communication thread: what it is to advance. Null while there is nothing.
  void advances(Progress* progress) { progress_ = progress; }
  bool is_this_thread() const;

  const CommunicationThreadCounters& counters() const { return counters_; }
  ThreadUsage usage() const;
  // The thread's scheduling slice as the kernel says it is; 0 where it does not.
  Nanoseconds slice() const { return slice_.load(std::memory_order_relaxed); }

 private:
  void enter();
  void run();
  template <typename Work>
  auto exclusively(Work work);
  bool drive();
  // What is there to come back for; `bounded`: soon.
  struct Left {
    bool pending;
    bool bounded;
  };
  Left left();
  void nudge();
  void leave_to_stand_in();
  bool serve(bool only_brief);
  bool enter_soon();
  struct Turn {
    bool mine;
    bool served;
  };
  Turn begin_turn();
  void end_turn(bool served);
  void execute_here(Command& command);
  void look_around();
  bool advance();
  void rest();
  void rest_for_good();
  void rouse_again();
  bool spins(Nanoseconds time) const;
  void sleep(bool beside);
  void nap();
  bool arm();
  void look_for_connections();
  void wake();
  void push_until_taken(Command& command);

  // Read at each submission and written once: beside what nobody writes.
  std::atomic<bool> stood_down_{false};
  const CommunicationThreadPolicy policy_;
  std::unique_ptr<EventSource> events_;
  CommandQueue<Command> queue_;
  Progress* progress_ = nullptr;
  PollJudge judge_;
  AdaptiveSpin adaptive_spin_;
  CommunicationThreadCounters counters_;
  alignas(128) std::atomic<std::uint32_t> asleep_{0};
  std::atomic<bool> driving_{false};            // held by who takes commands, or touches what they started
  std::atomic<std::uint32_t> stood_in_for_{0};  // a futex: the communication thread leaves the work to others
  std::atomic<Nanoseconds> last_stand_in_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> paused_{false};
  std::atomic<bool> ended_{false};
  std::atomic<int> tid_{0};
  std::atomic<Nanoseconds> slice_{0};
  ThreadUsage final_usage_;  // valid once ended
  pthread_t thread_{};
  Nanoseconds fruitless_since_ = 0;
  int fruitless_ = 0;
  Nanoseconds next_nap_ = 0;
  Nanoseconds looked_ = 0;
  Look look_ = nullptr;
  Nanoseconds looked_around_ = 0;
};

// Whether the caller is a communication thread: its calls are the MPI's own or a callback's, and go straight on.
bool on_communication_thread();

}  // namespace progress_engine::offload
