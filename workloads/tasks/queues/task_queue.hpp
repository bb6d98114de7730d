// SPDX-License-Identifier: BSD-3-Clause
// The three designs of a task queue behind one interface.
#pragma once

#include <cstddef>
#include <memory>

#include "tasks/queues/ltask.hpp"

namespace progress_engine {

enum class QueueDesign { submission, lock, lock_free };

class TaskQueue {
 public:
  TaskQueue() = default;
  virtual ~TaskQueue() = default;
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // Any thread. False if there is no room (only a lock-free queue can be full).
  virtual bool submit(Ltask& task) = 0;
  // Polls each task about once; skips what another thread is at. Any thread, but not from within an ltask of this
  // queue. Returns how many tasks it polled.
  virtual int run() = 0;
  // False while a task is not done.
  virtual bool empty() = 0;
};

// `capacity` is the room of a lock-free queue; the others have no bound.
std::unique_ptr<TaskQueue> make_task_queue(QueueDesign design, std::size_t capacity);

}  // namespace progress_engine
