// SPDX-License-Identifier: BSD-3-Clause
#include "wait/user_wait.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "core/activity.hpp"
#include "ring_many_times.hpp"

namespace progress_engine {
namespace {

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
