// SPDX-License-Identifier: BSD-3-Clause
#include "offload/command_queue.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "offload/pool.hpp"

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

}  // namespace
}  // namespace progress_engine::offload
