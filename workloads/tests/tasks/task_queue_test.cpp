// SPDX-License-Identifier: BSD-3-Clause
// The same tests on every design.
#include "tasks/queues/task_queue.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "eventually.hpp"

namespace progress_engine {
namespace {

// Polled `left` times until it is done. A plain counter: an ltask never runs twice at once.
struct Counted {
  int left = 1;
  int polled = 0;
  std::atomic<bool> running{false};
  Ltask task{.poll = poll, .argument = this};

  static int poll(void* argument) {
    auto& self = *static_cast<Counted*>(argument);
    EXPECT_FALSE(self.running.exchange(true)) << "polled twice at once";
    ++self.polled;
    self.running = false;
    return self.polled == self.left ? 1 : 0;
  }
};

class TaskQueues : public testing::TestWithParam<QueueDesign> {
 protected:
  std::unique_ptr<TaskQueue> queue = make_task_queue(GetParam(), 64);
};

std::string name_of(const testing::TestParamInfo<QueueDesign>& info) {
  constexpr std::array<const char*, 3> names = {"submission", "lock", "lock_free"};
  return names[static_cast<std::size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Designs, TaskQueues,
                         testing::Values(QueueDesign::submission, QueueDesign::lock, QueueDesign::lock_free), name_of);

TEST_P(TaskQueues, PollsATaskOnceARunUntilItIsDone) {
  Counted counted{.left = 3};
  EXPECT_TRUE(queue->empty());
  ASSERT_TRUE(queue->submit(counted.task));
  EXPECT_FALSE(queue->empty());
  for (int run = 1; run <= 3; ++run) {
    EXPECT_FALSE(counted.task.completion.done());
    EXPECT_EQ(queue->run(), 1);
    EXPECT_EQ(counted.polled, run);
  }
  EXPECT_TRUE(counted.task.completion.done());
  EXPECT_TRUE(queue->empty());
  EXPECT_EQ(queue->run(), 0);
}

std::vector<int> order;
struct Ordered {
  int number;
  Ltask task{.poll = poll, .argument = this};
  static int poll(void* argument) {
    order.push_back(static_cast<Ordered*>(argument)->number);
    return 1;
  }
};

TEST_P(TaskQueues, PollsInTheOrderOfSubmission) {
  order.clear();
  std::array<Ordered, 4> tasks{{{.number = 0}, {.number = 1}, {.number = 2}, {.number = 3}}};
  for (auto& ordered : tasks) queue->submit(ordered.task);
  queue->run();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
}

// What the ltask of a network's driver does when a message arrives: it submits the next step.
struct Chain {
  TaskQueue* queue;
  Counted next{.left = 1};
  Ltask task{.poll = poll, .argument = this};
  static int poll(void* argument) {
    auto& self = *static_cast<Chain*>(argument);
    self.queue->submit(self.next.task);
    return 1;
  }
};

TEST_P(TaskQueues, ATaskMaySubmitAnother) {
  Chain chain{.queue = queue.get()};
  queue->submit(chain.task);
  for (int i = 0; i < 2; ++i) queue->run();
  EXPECT_TRUE(chain.task.completion.done());
  EXPECT_TRUE(chain.next.task.completion.done());
  EXPECT_TRUE(queue->empty());
}

TEST_P(TaskQueues, NothingIsLostOrDoubledBetweenSubmittersAndPollers) {
  constexpr int submitters = 2;
  constexpr int tasks = 1500;
  std::atomic<int> working{submitters};
  std::vector<std::jthread> threads;
  for (int i = 0; i < submitters; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < tasks; ++turn) {
        Counted counted{.left = 1 + turn % 3};
        while (!queue->submit(counted.task)) queue->run();
        while (!counted.task.completion.done()) {
          if (queue->run() == 0) std::this_thread::yield();
        }
        EXPECT_EQ(counted.polled, counted.left);
      }
      --working;
    });
  threads.emplace_back([&] {
    while (working > 0)
      if (queue->run() == 0) std::this_thread::yield();
  });
  threads.clear();
  EXPECT_TRUE(queue->empty());
}

TEST(LockFreeQueue, RefusesWhatItHasNoRoomFor) {
  const auto queue = make_task_queue(QueueDesign::lock_free, 2);
  std::array<Counted, 3> tasks{};
  EXPECT_TRUE(queue->submit(tasks[0].task));
  EXPECT_TRUE(queue->submit(tasks[1].task));
  EXPECT_FALSE(queue->submit(tasks[2].task));
  EXPECT_EQ(queue->run(), 2);
  EXPECT_TRUE(queue->submit(tasks[2].task));
}

TEST(Completion, WakesWhoSleeps) {
  BasicCompletion<RealAtomics> completion;
  std::atomic<pid_t> tid{0};
  std::jthread sleeper([&] {
    tid = gettid();
    while (!completion.done()) completion.sleep(seconds(3600));
  });
  ASSERT_TRUE(eventually([&] { return tid > 0 && asleep(tid); }));
  completion.post();
  sleeper.join();
  EXPECT_TRUE(completion.done());
}

}  // namespace
}  // namespace progress_engine
