// SPDX-License-Identifier: BSD-3-Clause
// Ltasks in the order of their submission. For one thread at a time.
#pragma once

#include "core/ltask.hpp"

namespace progress_engine {

template <typename Atomics>
class BasicTaskList {
 public:
  using Task = BasicLtask<Atomics>;

  bool empty() const { return first_ == nullptr; }

  void append(Task& task) {
    task.next = nullptr;
    *end_ = &task;
    end_ = &task.next;
  }

  // Appends a chain whose first task was submitted last.
  void append_reversed(Task* chain) {
    Task* first = nullptr;
    while (chain) {
      Task* next = chain->next;
      chain->next = first;
      first = chain;
      chain = next;
    }
    while (first) {
      Task* next = first->next;
      append(*first);
      first = next;
    }
  }

  // Polls each task once and drops those that are done. A poll may append to this list: such a task comes last.
  // Returns how many it polled.
  int run() {
    int polled = 0;
    for (Task** link = &first_; *link; ++polled) {
      Task* task = *link;
      if (task->poll(task->argument) == 0) {
        link = &task->next;
        continue;
      }
      *link = task->next;
      if (end_ == &task->next) end_ = link;
      task->completion.post();
    }
    return polled;
  }

 private:
  Task* first_ = nullptr;
  Task** end_ = &first_;
};

}  // namespace progress_engine
