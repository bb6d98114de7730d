// SPDX-License-Identifier: BSD-3-Clause
// User-level threads of Argobots: one pool for all kernel threads, so that a thread resumes on whichever is free.
#include <abt.h>

#include <stdexcept>

#include "common/clock.h"
#include "common/noncopyable.h"
#include "ult/threading.h"

namespace workloads {
namespace {

void must(int code, const char* function) {
  if (code != ABT_SUCCESS) {
    throw std::runtime_error(std::string(function) + " of Argobots failed with code " + std::to_string(code));
  }
}

/// Argobots from here on, with this kernel thread and `workers` - 1 others over one pool.
class Streams : NonCopyable {
 public:
  explicit Streams(std::size_t workers) : others_(workers - 1) {
    must(ABT_init(0, nullptr), "ABT_init");
    must(ABT_pool_create_basic(ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool_), "ABT_pool_create_basic");
    ABT_xstream own = ABT_XSTREAM_NULL;
    must(ABT_xstream_self(&own), "ABT_xstream_self");
    must(ABT_xstream_set_main_sched_basic(own, ABT_SCHED_BASIC_WAIT, 1, &pool_), "ABT_xstream_set_main_sched_basic");
    for (auto& other : others_) {
      must(ABT_xstream_create_basic(ABT_SCHED_BASIC_WAIT, 1, &pool_, ABT_SCHED_CONFIG_NULL, &other),
           "ABT_xstream_create_basic");
    }
  }
  ~Streams() {
    for (auto& other : others_) {
      ABT_xstream_free(&other);
    }
    ABT_finalize();
  }

  [[nodiscard]] ABT_pool pool() const { return pool_; }

 private:
  std::vector<ABT_xstream> others_;
  ABT_pool pool_ = ABT_POOL_NULL;
};

struct Task {
  const Body* body;
  std::size_t index;
};

void run(void* argument) {
  const auto* task = static_cast<const Task*>(argument);
  (*task->body)(task->index);
}

}  // namespace

double run_user_level_threads(std::size_t workers, std::size_t count, const Body& body) {
  const Streams streams(workers);
  std::vector<Task> tasks(count);
  std::vector<ABT_thread> threads(count);
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    tasks[i] = {.body = &body, .index = i};
    must(ABT_thread_create(streams.pool(), run, &tasks[i], ABT_THREAD_ATTR_NULL, &threads[i]), "ABT_thread_create");
  }
  for (auto& thread : threads) {
    ABT_thread_free(&thread);  // joins
  }
  return seconds_since(begin);
}

void yield_user_level_thread() { ABT_thread_yield(); }

std::size_t this_worker() {
  int rank = 0;
  ABT_self_get_xstream_rank(&rank);
  return static_cast<std::size_t>(rank);
}

}  // namespace workloads
