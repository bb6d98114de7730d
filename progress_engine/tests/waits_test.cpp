// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <thread>

#include "core/activity.hpp"
#include "eventually.hpp"
#include "mpi/managed_wait.hpp"
#include "wait/user_wait.hpp"

namespace progress_engine {
namespace {

TEST(Parking, DoesNotSleepWhileThereIsWork) {
  prepare_fences();
  Parking parking;
  EXPECT_FALSE(parking.park([] { return true; }, seconds(60)));
}

TEST(Parking, EverySleepEnds) {
  prepare_fences();
  Parking parking;
  const Nanoseconds before = now();
  EXPECT_TRUE(parking.park([] { return false; }, microseconds(2000)));
  EXPECT_GE(now() - before, microseconds(2000));
}

TEST(Parking, ANapEndsByItselfOrByARing) {
  prepare_fences();
  Parking parking;
  EXPECT_TRUE(parking.nap([] { return true; })) << "there is work";
  const Nanoseconds before = now();
  EXPECT_FALSE(parking.nap([] { return false; }));
  EXPECT_GE(now() - before, Parking::longest_nap);
  std::atomic<bool> rung{false};
  std::jthread ringer([&] {
    while (!rung)
      if (parking.anyone()) parking.ring();
  });
  bool woken = false;  // on a busy machine the ringer may get no CPU during the first naps
  for (const Nanoseconds end = now() + patience; !woken && now() < end;) woken = parking.nap([] { return false; });
  EXPECT_TRUE(woken) << "rung, whatever for";
  rung = true;
}

void ring_many_times(int rounds, const std::function<void(Parking&, const std::function<bool()>&)>& sleep) {
  prepare_fences();
  Parking parking;
  Rings rings;
  ring_many_times(
      rounds, rings, [&] { sleep(parking, [&] { return rings.one_waits(); }); },
      [&] {
        light_fence();
        if (parking.anyone()) parking.ring();
      });
}

TEST(Parking, NoRingIsLost) {
  ring_many_times(20000, [](Parking& parking, const auto& has_work) { parking.park(has_work, for_ever); });
}

TEST(Parking, NoRingOfANapperIsLost) {
  ring_many_times(5000, [](Parking& parking, const auto& has_work) {
    if (!parking.nap(has_work)) parking.park(has_work, for_ever);
  });
}

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

constexpr std::uint32_t waitpkg = 1U << 5U;
constexpr std::uint32_t monitorx = 1U << 29U;
constexpr std::uint32_t other_bits = ~(waitpkg | monitorx);

// ---- detection, on CPUs that are not here

CpuidAnswer intel(std::uint32_t leaf, std::uint32_t /*subleaf*/) {
  return {.c = leaf == 7 ? other_bits | waitpkg : other_bits};
}
CpuidAnswer amd(std::uint32_t leaf, std::uint32_t /*subleaf*/) {
  return {.c = leaf == 0x80000001 ? other_bits | monitorx : other_bits};
}
CpuidAnswer both(std::uint32_t leaf, std::uint32_t subleaf) {
  return {.c = intel(leaf, subleaf).c | amd(leaf, subleaf).c};
}
// As under a hypervisor that hides them, on any CPU.
CpuidAnswer hidden(std::uint32_t /*leaf*/, std::uint32_t /*subleaf*/) { return {.c = other_bits}; }
// The bits of one in the leaf of the other mean something else.
CpuidAnswer crossed(std::uint32_t leaf, std::uint32_t /*subleaf*/) { return {.c = leaf == 7 ? monitorx : waitpkg}; }
CpuidAnswer too_old(std::uint32_t /*leaf*/, std::uint32_t /*subleaf*/) { return {}; }
CpuidAnswer other_subleaf(std::uint32_t leaf, std::uint32_t subleaf) {
  return {.c = leaf == 7 && subleaf == 1 ? waitpkg : 0};
}

TEST(WaitInstruction, IsWhatCpuidTellsOf) {
  EXPECT_EQ(detect_wait_instruction(intel), WaitInstruction::umwait);
  EXPECT_EQ(detect_wait_instruction(amd), WaitInstruction::mwaitx);
  EXPECT_EQ(detect_wait_instruction(both), WaitInstruction::umwait);
}

TEST(WaitInstruction, IsAPauseWhereCpuidTellsOfNone) {
  EXPECT_EQ(detect_wait_instruction(hidden), WaitInstruction::pause);
  EXPECT_EQ(detect_wait_instruction(crossed), WaitInstruction::pause);
  EXPECT_EQ(detect_wait_instruction(too_old), WaitInstruction::pause);
  EXPECT_EQ(detect_wait_instruction(other_subleaf), WaitInstruction::pause);
}

TEST(WaitInstruction, TheFallbackSaysThatItIsNone) {
  EXPECT_EQ(std::string(wait_instruction_name(WaitInstruction::pause)), "pause-futex");
  EXPECT_EQ(std::string(wait_instruction_name(WaitInstruction::mwaitx)), "mwaitx-c1");
}

// ---- waiting: with what this CPU has, and with the fallback

class UserWait : public testing::TestWithParam<WaitInstruction> {};

TEST_P(UserWait, EndsAtItsBound) {
  const std::atomic<std::uint32_t> word{7};
  const Nanoseconds before = now();
  user_wait(word, 7, microseconds(2000), GetParam());
  EXPECT_GE(now() - before, microseconds(2000));
}

TEST_P(UserWait, DoesNotBeginWhereTheWordHasChanged) {
  const std::atomic<std::uint32_t> word{8};
  const Nanoseconds before = now();
  user_wait(word, 7, 2 * patience, GetParam());
  EXPECT_LT(now() - before, patience);
}

TEST_P(UserWait, EndsByAStore) {
  std::atomic<std::uint32_t> word{0};
  const Nanoseconds before = now();
  std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    word.store(1, std::memory_order_release);
  });
  user_wait(word, 0, 2 * patience, GetParam());
  EXPECT_EQ(word.load(), 1U);
  EXPECT_LT(now() - before, patience);
}

TEST_P(UserWait, NoRingIsLost) {
  prepare_fences();
  Parking parking;
  Rings rings;
  const auto wait = [](const RealAtomics::Word& word, std::uint32_t seen, Nanoseconds bound) {
    user_wait(word, seen, bound, GetParam());
  };
  ring_many_times(
      2000, rings, [&] { parking.watch([&] { return rings.one_waits(); }, wait, for_ever); },
      [&] {
        light_fence();
        if (parking.anyone()) parking.ring();
      });
}

INSTANTIATE_TEST_SUITE_P(Here, UserWait, testing::Values(wait_instruction()));
INSTANTIATE_TEST_SUITE_P(Fallback, UserWait, testing::Values(WaitInstruction::pause));

}  // namespace
}  // namespace progress_engine
