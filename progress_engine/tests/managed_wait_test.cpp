// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/managed_wait.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace progress_engine {
namespace {

// What is waited for: done after so many tests, or failed.
struct Operation {
  std::atomic<int> tests_left{0};
  int code = 0;
  std::atomic<std::thread::id> tester{};

  static int test(void* operation, int* done) {
    auto& self = *static_cast<Operation*>(operation);
    self.tester = std::this_thread::get_id();
    *done = --self.tests_left <= 0 ? 1 : 0;
    return *done ? self.code : 0;
  }
};

TEST(ManagedWaits, SpinningTestsAtLeastOnce) {
  ManagedWaits waits(0);
  Operation operation{.tests_left = 1};
  int done = 0;
  EXPECT_EQ(waits.spin(Operation::test, &operation, done), 0);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(waits.sleeps(), 0U);
}

TEST(ManagedWaits, ThePollerCompletesForAllWhoSleep) {
  ManagedWaits waits(0);
  std::array<Operation, 3> operations{
      Operation{.tests_left = 500}, {.tests_left = 800}, {.tests_left = 900, .code = 7}};
  std::array<int, 3> codes{};
  std::array<int, 3> done{};
  {
    std::vector<std::jthread> sleepers;
    for (std::size_t i = 0; i < operations.size(); ++i)
      sleepers.emplace_back(
          [&, i] { codes.at(i) = waits.sleep(Operation::test, &operations.at(i), done.at(i), [] { return true; }); });
    while (waits.sleeps() < operations.size()) std::this_thread::yield();
    for (int i = 0; i < 2000; ++i) waits.look();
  }
  EXPECT_EQ(codes, (std::array{0, 0, 7}));
  EXPECT_EQ(done, (std::array{1, 1, 1}));
}

TEST(ManagedWaits, ASleeperWhomNobodyPollsForTestsByItself) {
  ManagedWaits waits(0);
  Operation operation{.tests_left = 3};
  int done = 0;
  EXPECT_EQ(waits.sleep(Operation::test, &operation, done, [] { return true; }), 0);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(operation.tester.load(), std::this_thread::get_id());
}

TEST(ManagedWaits, GivesUpWhenItMayNotGoOn) {
  ManagedWaits waits(0);
  Operation operation{.tests_left = 1000000};
  int done = 0;
  EXPECT_EQ(waits.sleep(Operation::test, &operation, done, [] { return false; }), 0);
  EXPECT_EQ(done, 0);
  waits.look();
  EXPECT_EQ(operation.tests_left, 1000000) << "who gave up is in no list";
}

}  // namespace
}  // namespace progress_engine
