// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "offload/communication_thread.hpp"
#include "offload/pool.hpp"
#include "offload/ult.hpp"
#include "offload/waiter.hpp"
#include "platform/platform.hpp"

namespace progress_engine::offload {
namespace {

struct Item {
  int producer = 0;
  int value = 0;
};

TEST(CommandQueue, GivesBackInOrderAndSaysWhenItIsFull) {
  CommandQueue<Item> queue(4);
  std::vector<Item> items(5);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.push(&items[static_cast<std::size_t>(i)]));
  EXPECT_FALSE(queue.push(&items[4]));
  EXPECT_FALSE(queue.empty());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(queue.pop(), &items[static_cast<std::size_t>(i)]);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_TRUE(queue.push(&items[4]));
  EXPECT_EQ(queue.pop(), &items[4]);
}

// A small one, so that it is full and empty again and again.
TEST(CommandQueue, ManyProducersLoseNothingAndKeepTheirOwnOrder) {
  constexpr int producers = 8;
  constexpr int each = 5000;
  CommandQueue<Item> queue(16);
  std::vector<std::vector<Item>> items(producers, std::vector<Item>(each));
  std::vector<std::jthread> threads;
  for (int p = 0; p < producers; ++p)
    threads.emplace_back([&, p] {
      for (int i = 0; i < each; ++i) {
        Item& item = items[static_cast<std::size_t>(p)][static_cast<std::size_t>(i)];
        item = {p, i};
        while (!queue.push(&item)) std::this_thread::yield();
      }
    });
  std::vector<int> next(producers, 0);
  for (int got = 0; got < producers * each;) {
    const Item* item = queue.pop();
    if (!item) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(item->value, next[static_cast<std::size_t>(item->producer)]++);
    ++got;
  }
  EXPECT_TRUE(queue.empty());
}

struct Pooled {
  std::atomic<std::uint32_t> next_free{0};
  std::uint32_t number = 0;
  std::atomic<bool> taken{false};
};

TEST(Pool, NeverHandsOutTheSameObjectTwice) {
  Pool<Pooled> pool;
  std::atomic<int> doubles{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        std::vector<Pooled*> mine;
        for (int i = 0; i < 20000; ++i) {
          if (mine.size() < 5) {
            mine.push_back(pool.take());
            doubles += mine.back()->taken.exchange(true) ? 1 : 0;
          } else {
            mine.back()->taken = false;
            pool.give_back(*mine.back());
            mine.pop_back();
          }
        }
      });
  }
  EXPECT_EQ(doubles, 0);
  EXPECT_LE(pool.made(), 8U * 5U);
}

TEST(Pool, FindsByNumberAndEndsAtItsCapacity) {
  Pool<Pooled> pool;
  EXPECT_EQ(pool.find(0), nullptr);
  Pooled* first = pool.take();
  EXPECT_EQ(pool.find(first->number), first);
  EXPECT_EQ(pool.find(1), nullptr);
  EXPECT_EQ(pool.find(~0U), nullptr);
  std::uint32_t taken = 1;
  while (pool.take()) ++taken;
  EXPECT_EQ(taken, Pool<Pooled>::capacity);
  pool.give_back(*first);
  EXPECT_EQ(pool.take(), first);
  EXPECT_EQ(pool.take(), nullptr);
}

TEST(OffloadCompletion, IsDoneOnceAndCanBeUsedAgain) {
  Completion completion;
  EXPECT_FALSE(completion.done());
  EXPECT_FALSE(completion.awaited());
  completion.complete();
  EXPECT_TRUE(completion.done());
  completion.wait();
  completion.reset();
  EXPECT_FALSE(completion.done());
}

TEST(OffloadCompletion, TellsWhetherSomebodyWaits) {
  Completion completion;
  Waiter waiter(1);
  EXPECT_TRUE(completion.attach(waiter));
  EXPECT_TRUE(completion.awaited());
  EXPECT_TRUE(completion.detach(waiter));
  EXPECT_FALSE(completion.awaited());
  completion.complete();
  EXPECT_FALSE(completion.attach(waiter));
  EXPECT_FALSE(completion.detach(waiter));
}

// The waiter's memory goes away at once: a signal that comes too late would be seen by the sanitizers.
TEST(OffloadCompletion, EachWaitEndsAtEveryMomentOfItsWayToSleep) {
  constexpr int rounds = 5000;
  std::vector<std::unique_ptr<Completion>> completions;
  for (int i = 0; i < rounds; ++i) completions.push_back(std::make_unique<Completion>());
  std::atomic<int> begun{-1};
  std::jthread other([&] {
    for (int i = 0; i < rounds; ++i) {
      while (begun < i) std::this_thread::yield();
      for (int delay = 0; delay < i % 200; ++delay) relax_cpu();
      completions[static_cast<std::size_t>(i)]->complete();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    wait_policy().spin = i % 2 ? 0 : microseconds(20);
    begun = i;
    completions[static_cast<std::size_t>(i)]->wait();
    EXPECT_TRUE(completions[static_cast<std::size_t>(i)]->done());
  }
}

TEST(Waiter, WaitsForAllItsSignals) {
  Waiter waiter(3);
  std::atomic<int> sent{0};
  std::jthread other([&] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ++sent;
      waiter.signal();
    }
  });
  waiter.wait();
  EXPECT_EQ(sent, 3);
}

TEST(Ult, AKernelThreadRunsOnItsOwnStack) {
  EXPECT_FALSE(is_on_another_stack());
  std::jthread([] { EXPECT_FALSE(is_on_another_stack()); }).join();
}

TEST(Ult, RefusesAnAdapterThatCannotWork) {
  pe_ult_adapter adapter{};
  adapter.name = "half";
  EXPECT_FALSE(register_ult_adapter(adapter));
  const auto nothing = [](void*) {};
  adapter.gate_init = adapter.gate_wait = adapter.gate_open = nothing;
  adapter.yield = [] {};
  adapter.gate_size = PE_ULT_GATE_SIZE + 1;
  EXPECT_FALSE(register_ult_adapter(adapter));
  EXPECT_EQ(ult_adapter(), nullptr);
}

}  // namespace
}  // namespace progress_engine::offload
