// SPDX-License-Identifier: BSD-3-Clause
// Every interleaving of the queues' and the waiting's real code, by 2 or 3 threads.
#include <gtest/gtest.h>

#include <array>

#include "core/activity.hpp"
#include "model/expect.hpp"
#include "model/machine.hpp"
#include "tasks/queues/task_queue.hpp"

namespace progress_engine::model {
namespace {

using Task = BasicLtask<ModelAtomics>;

// A task that is done when it was polled `left` times, and notices when it is
// polled twice at once.
struct Counted {
  int left = 1;
  int polled = 0;
  bool running = false;
  ModelAtomic<int> inside{0};
  Task task{.poll = poll, .argument = this};

  static int poll(void* argument) {
    auto& self = *static_cast<Counted*>(argument);
    if (std::exchange(self.running, true)) Machine::current().fail("a task is polled twice at once");
    self.inside.load();  // a moment at which others may run
    self.running = false;
    return ++self.polled == self.left ? 1 : 0;
  }
};

template <typename Queue>
struct Made : Queue {
  Made() = default;
};
template <>
struct Made<BasicLockFreeQueue<ModelAtomics>> : BasicLockFreeQueue<ModelAtomics> {
  Made() : BasicLockFreeQueue(2) {}
};

template <typename Queue>
class QueueScenario : public Scenario {
 public:
  // What the threads left is polled here: then every task must have been polled
  // as often as it wanted.
  std::string check() override {
    for (int rounds = 0; rounds < 3; ++rounds) queue.run();
    if (!queue.empty()) return "a task is left in the queue";
    for (std::size_t i = 0; i < submitted; ++i) {
      if (tasks[i].polled != tasks[i].left) return "a task was polled too often or was lost";
      if (!tasks[i].task.completion.done()) return "a task's end was lost";
    }
    return "";
  }

 protected:
  void submit(int number) {
    ++submitted;
    while (!queue.submit(tasks[static_cast<std::size_t>(number)].task)) ModelAtomics::relax(0);
  }
  void finish(int number) {
    while (!tasks[static_cast<std::size_t>(number)].task.completion.done())
      if (queue.run() == 0) ModelAtomics::relax(0);
  }

  Made<Queue> queue;
  std::array<Counted, 2> tasks{};
  std::size_t submitted = 0;
};

// Each submits a task and polls once: none is lost, whoever of the two polls
// it.
template <typename Queue>
class TwoSubmitters : public QueueScenario<Queue> {
 public:
  std::vector<Body> threads() override {
    return {[this] { this->submit(0), this->queue.run(); }, [this] { this->submit(1), this->queue.run(); }};
  }
};

// One polls until its task is done, which another one may have in its hands.
template <typename Queue>
class SubmitterAndPoller : public QueueScenario<Queue> {
 public:
  std::vector<Body> threads() override {
    return {[this] { this->submit(0), this->finish(0); }, [this] { this->queue.run(); }};
  }
};

// The task must be polled twice, by one poller or by two.
template <typename Queue>
class OneSubmitterTwoPollers : public QueueScenario<Queue> {
 public:
  OneSubmitterTwoPollers() { this->tasks[0].left = 2; }
  std::vector<Body> threads() override {
    return {[this] { this->submit(0); }, [this] { this->queue.run(); }, [this] { this->queue.run(); }};
  }
};

template <typename Queue>
class Interleavings : public testing::Test {};
using Queues =
    testing::Types<BasicSubmissionQueue<ModelAtomics>, BasicLockQueue<ModelAtomics>, BasicLockFreeQueue<ModelAtomics>>;
TYPED_TEST_SUITE(Interleavings, Queues);

TYPED_TEST(Interleavings, OfTwoSubmittersLoseNoTask) { expect_sound<TwoSubmitters<TypeParam>>(20); }
TYPED_TEST(Interleavings, OfASubmitterAndAPollerLoseNoTask) { expect_sound<SubmitterAndPoller<TypeParam>>(20); }
TYPED_TEST(Interleavings, OfASubmitterAndTwoPollersLoseNoTask) { expect_sound<OneSubmitterTwoPollers<TypeParam>>(20); }

TEST(BrokenMask, IsFound) {
  expect_found<TwoSubmitters<BasicSubmissionQueue<ModelAtomics>>>(Fault::torn_exchange, "task");
}
// ---- waiting for a task

// The whole way of TaskEngine: submit, ring, sleep on the task's semaphore; a
// background thread polls or is parked.
class Round : public Scenario {
 public:
  std::vector<Body> threads() override {
    return {[this] {
              queue.submit(counted.task);
              ModelAtomics::light_fence();
              if (parking.anyone()) parking.ring();
              while (!counted.task.completion.done()) counted.task.completion.sleep(0);
            },
            [this] {
              while (counted.polled == 0) {
                queue.run();
                if (queue.empty()) parking.park([this] { return counted.polled > 0 || !queue.empty(); }, 0);
              }
            }};
  }
  std::string check() override { return counted.polled == 1 ? "" : "the task was not polled once"; }

 private:
  BasicSubmissionQueue<ModelAtomics> queue;
  BasicParking<ModelAtomics> parking;
  Counted counted;
};

TEST(WaitInterleavings, EndWithTheTask) { expect_sound<Round>(20); }

class TwoWaiters : public Scenario {
 public:
  std::vector<Body> threads() override {
    const Body wait = [this] {
      while (!completion.done()) completion.sleep(0);
    };
    return {wait, wait, [this] { completion.post(); }};
  }
  std::string check() override { return completion.done() ? "" : "not posted"; }

 private:
  BasicCompletion<ModelAtomics> completion;
};

TEST(WaitInterleavings, EndForEveryWaiter) { expect_sound<TwoWaiters>(20); }
TEST(WaitInterleavings, ATornPostIsFound) { expect_found<TwoWaiters>(Fault::torn_exchange, "sleeps"); }

}  // namespace
}  // namespace progress_engine::model
