// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/queues/task_tree.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <utility>

namespace progress_engine {
namespace {

std::atomic<std::uint64_t> last_serial{0};

// Where this thread was seen last, and in which tree's ltask it is.
struct ThisThread {
  std::uint64_t tree = 0;
  int leaf = 0;
  Nanoseconds until = 0;
  const TaskTree* inside = nullptr;
};
thread_local ThisThread this_thread;

// A few nanoseconds, and good to some milliseconds.
Nanoseconds coarse_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

// Queues are not entered from within their own ltasks.
class Entry {
 public:
  explicit Entry(const TaskTree* tree) : outer_(std::exchange(this_thread.inside, tree)) {}
  ~Entry() { this_thread.inside = outer_; }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  const TaskTree* outer_;
};

}  // namespace

TaskTree::TaskTree(Topology topology, const Options& options)
    : topology_(std::move(topology)),
      options_(options),
      serial_(++last_serial),
      nodes_(std::make_unique<Node[]>(topology_.places().size())) {
  for (std::size_t i = 0; i < topology_.places().size(); ++i)
    nodes_[i].queue = make_task_queue(options_.design, options_.capacity);
}

bool TaskTree::submit(Ltask& task, int place) {
  task.completion.reset();
  return node(place).queue->submit(task);
}

int TaskTree::round(int leaf) {
  if (inside()) return 0;
  const Entry entry(this);
  int polled = 0;
  for (int place = leaf;;) {
    Node& at = node(place);
    const Place& about = topology_.places()[static_cast<std::size_t>(place)];
    polled += at.queue->run();
    if (about.parent < 0) return polled;
    const unsigned rounds = at.rounds.load(std::memory_order_relaxed) + 1;
    at.rounds.store(rounds, std::memory_order_relaxed);
    if (rounds % static_cast<unsigned>(about.siblings) != 0) return polled;
    place = about.parent;
  }
}

int TaskTree::full_round() {
  if (inside()) return 0;
  const Entry entry(this);
  int polled = 0;
  for (std::size_t i = 0; i < topology_.places().size(); ++i) polled += nodes_[i].queue->run();
  return polled;
}

int TaskTree::here() const {
  const Nanoseconds time = coarse_now();
  if (this_thread.tree != serial_ || time >= this_thread.until) {
    this_thread.tree = serial_;
    this_thread.leaf = topology_.leaf_of_cpu(options_.cpu ? options_.cpu() : sched_getcpu());
    this_thread.until = time + options_.location_age;
  }
  return this_thread.leaf;
}

bool TaskTree::inside() const { return this_thread.inside == this; }

bool TaskTree::empty() const {
  for (std::size_t i = 0; i < topology_.places().size(); ++i)
    if (!nodes_[i].queue->empty()) return false;
  return true;
}

}  // namespace progress_engine
