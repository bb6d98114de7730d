// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/queues/task_queue.hpp"

namespace progress_engine {
namespace {

template <typename Queue>
class Wrapped : public TaskQueue {
 public:
  template <typename... Arguments>
  explicit Wrapped(Arguments... arguments) : queue_(arguments...) {}
  bool submit(Ltask& task) override { return queue_.submit(task); }
  int run() override { return queue_.run(); }
  bool empty() override { return queue_.empty(); }

 private:
  Queue queue_;
};

}  // namespace

std::unique_ptr<TaskQueue> make_task_queue(QueueDesign design, std::size_t capacity) {
  switch (design) {
    case QueueDesign::lock:
      return std::make_unique<Wrapped<BasicLockQueue<RealAtomics>>>();
    case QueueDesign::lock_free:
      return std::make_unique<Wrapped<BasicLockFreeQueue<RealAtomics>>>(capacity);
    case QueueDesign::submission:
      break;
  }
  return std::make_unique<Wrapped<BasicSubmissionQueue<RealAtomics>>>();
}

}  // namespace progress_engine
