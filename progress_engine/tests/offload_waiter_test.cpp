// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "offload/ult.hpp"
#include "offload/waiter.hpp"
#include "platform/platform.hpp"

namespace progress_engine::offload {
namespace {

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
