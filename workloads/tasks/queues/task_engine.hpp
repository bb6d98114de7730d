// SPDX-License-Identifier: BSD-3-Clause
// The core by itself: ltasks, their queues over the machine, and the threads that poll them (Denis, PDP 2015,
// sections III and IV). It knows nothing of what the ltasks do. The C API of core.h is a thin layer over it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/activity.hpp"
#include "tasks/queues/task_tree.hpp"

namespace progress_engine {

struct TaskEngineOptions {
  TaskTree::Options tree{};
  std::string idle = "none";     // a SCHED_IDLE thread for each "package", "l3", "core", for the "machine", or "none"
  Nanoseconds idle_period = 0;   // between two rounds of an idle thread; 0: it yields
  Nanoseconds timer_period = 0;  // between two full rounds of the timer thread; 0: no such thread
  int dedicated = 0;             // threads that poll all the time
  Nanoseconds spin = microseconds(20);  // for how long wait() polls before it sleeps
};

class TaskEngine {
 public:
  // Starts the threads. Throws std::system_error; then none is left running.
  TaskEngine(Topology topology, TaskEngineOptions options);
  // Ends and joins the threads. Tasks that are not done are forgotten, not touched.
  ~TaskEngine();
  TaskEngine(const TaskEngine&) = delete;
  TaskEngine& operator=(const TaskEngine&) = delete;

  // The task may run at once. False if the place's queue is full. Any thread.
  bool submit(Ltask& task, int place);
  // Explicit polling: one round from where the thread is. Returns how many tasks it polled.
  int poll() { return tree_.round(tree_.here()); }
  // Fixed spin: polls for a while, then sleeps until the task is done. Without threads of its own the engine has nobody
  // else to poll: then it polls on. Not from within an ltask.
  void wait(Ltask& task);

  const TaskTree& tree() const { return tree_; }
  std::size_t threads() const { return threads_.size(); }

 private:
  // A SCHED_IDLE thread, as the timer sees it.
  struct IdleThread {
    std::atomic<int> tid{0};
    std::atomic<unsigned> rounds{0};  // odd: in a round
    std::atomic<bool> lifted{false};
    unsigned seen = 0;  // `rounds` at the timer's last turn; the timer's
  };

  template <typename Loop>
  void start(const std::vector<int>& cpus, bool idle_class, const Loop& loop);
  void start_idle_threads();
  void stop();
  void run_rounds(const std::vector<int>& leaves, Nanoseconds period, IdleThread* idle);
  void run_timer();
  // Lock-holder preemption: an idle thread that lost its core in a round holds a queue's mask, and while every core
  // computes it would not run for seconds. Who is still in the round of the timer's last turn gets the normal class.
  void lift_preempted_idle_threads();
  bool stopping() const { return stopping_.load(std::memory_order_acquire) != 0; }
  void pause(Nanoseconds period);
  // Quiet: with nothing to do a thread sleeps until something is submitted.
  void park_if_empty();

  const TaskEngineOptions options_;
  TaskTree tree_;
  Parking parking_;
  RealAtomics::Word stopping_{0};
  std::deque<IdleThread> idle_threads_;
  std::vector<pthread_t> threads_;
};

}  // namespace progress_engine
