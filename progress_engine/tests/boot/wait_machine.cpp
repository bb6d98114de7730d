// SPDX-License-Identifier: BSD-3-Clause
// All that runs on an emulated machine with two processors: wait/user_wait.hpp with the instruction that they have, and
// that of the workload `interference`, which may also sleep lightly. Says on the serial line how it went.
#include <x86intrin.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "interference/mwait.h"
#include "wait/user_wait.hpp"

using namespace progress_engine;

namespace {

constexpr std::uint64_t nanoseconds_a_tick = 100;  // test_boot.py: ten million instructions a second
constexpr int waits = 100'000;
constexpr Nanoseconds far_away = seconds(600);
// Longer than any wait that a store ends, by far, and than the ticks in which the clock's rate is learnt.
constexpr Nanoseconds long_time = seconds(1);

std::uint64_t looks = 0;  // at the clock: one a turn of the wait loop

struct alignas(128) Line {
  std::atomic<std::uint32_t> word{0};
};
Line there;
Line back;
// Of the workload, for each depth.
constexpr const char* depth_words[][2] = {{"light-turns", "light-lost"}, {"deep-turns", "deep-lost"}};
Line alarms[2];
Line calls[2];
Line answers[2];
std::atomic<std::uint32_t> phase{0};
std::atomic<std::uint64_t> stored_at{0};

// ---- the machine

void out(std::uint16_t port, std::uint8_t value) { asm volatile("outb %0, %1" ::"a"(value), "Nd"(port)); }

std::uint8_t in(std::uint16_t port) {
  std::uint8_t value = 0;
  asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
  return value;
}

void say(const char* text) {
  constexpr std::uint16_t serial_line = 0x3f8;
  constexpr std::uint16_t status = serial_line + 5;
  constexpr unsigned takes_more = 1U << 5U;
  for (; *text != '\0'; ++text) {
    while ((in(status) & takes_more) == 0) _mm_pause();
    out(serial_line, static_cast<std::uint8_t>(*text));
  }
}

void say(const char* what, std::uint64_t number) {
  char digits[24];
  char* first = digits + sizeof digits;
  *--first = '\0';
  do {
    *--first = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  say("wait-loop: ");
  say(what);
  say(" ");
  say(first);
  say("\n");
}

// The second processor begins at 0x8000, as the first one did after the boot sector.
void wake_the_other() {
  volatile auto* const controller = reinterpret_cast<std::uint32_t*>(0xfee00000);
  constexpr unsigned low = 0x300 / 4;
  constexpr unsigned high = 0x310 / 4;
  constexpr std::uint32_t initialise = 0x4500;
  constexpr std::uint32_t begin_at_page_8 = 0x4608;
  for (const std::uint32_t command : {initialise, begin_at_page_8}) {
    controller[high] = 1U << 24U;
    controller[low] = command;
    for (const Nanoseconds end = now() + microseconds(1000); now() < end;) _mm_pause();
  }
}

void await_phase(std::uint32_t wanted) {
  while (phase.load(std::memory_order_acquire) != wanted) _mm_pause();
}

// ---- what is tried

void until_the_deadline() {
  // By its first wait it learns the clock's rate, which it takes for a tick a nanosecond until then.
  user_wait(there.word, 0, microseconds(2000), wait_instruction());
  const Nanoseconds begin = now();
  looks = 0;
  user_wait(there.word, 0, 2 * long_time, wait_instruction());
  say("deadline", static_cast<std::uint64_t>(now() - begin));
  say("deadline-looks", looks);
}

void until_a_store() {
  phase.store(1, std::memory_order_release);
  looks = 0;
  user_wait(there.word, 0, far_away, wait_instruction());
  say("store", (__rdtsc() - stored_at.load()) * nanoseconds_a_tick);
  say("store-looks", looks);
}

// One of the two: waits for a store, answers it. How many waits lasted as if the store had been lost.
int exchange(Line& mine, Line& its, bool begins) {
  int lost = 0;
  for (std::uint32_t i = 1; i <= waits; ++i) {
    if (begins) its.word.store(i, std::memory_order_release);
    const Nanoseconds begin = now();
    user_wait(mine.word, i - 1, 4 * long_time, wait_instruction());
    lost += now() - begin > long_time || mine.word.load() != i ? 1 : 0;
    if (!begins) its.word.store(i, std::memory_order_release);
  }
  return lost;
}

// ---- the same with the workload's: each sleep is bounded, and its caller begins another one

// How many turns it took.
int sleep_until(const std::atomic<std::uint32_t>& word, std::uint32_t seen, workloads::Depth depth) {
  int turns = 0;
  for (; word.load(std::memory_order_acquire) == seen; ++turns)
    workloads::mwait_for_store(workloads::mwait_here(), word, seen, depth);
  return turns;
}

// As exchange(). A sleep after a lost store would last for its bound of 100,000 ticks.
int exchange_of_workload(Line& mine, Line& its, bool begins, workloads::Depth depth) {
  constexpr std::uint64_t long_ticks = 50'000;
  int lost = 0;
  for (std::uint32_t i = 1; i <= waits; ++i) {
    if (begins) its.word.store(i, std::memory_order_release);
    const std::uint64_t begin = __rdtsc();
    sleep_until(mine.word, i - 1, depth);
    lost += __rdtsc() - begin > long_ticks ? 1 : 0;
    if (!begins) its.word.store(i, std::memory_order_release);
  }
  return lost;
}

void store_later(std::atomic<std::uint32_t>& word) {
  for (const std::uint64_t end = __rdtsc() + 200'000; __rdtsc() < end;) _mm_pause();
  stored_at.store(__rdtsc());
  word.store(1, std::memory_order_release);
}

constexpr std::uint32_t first_phase_of_workload = 3;

void with_the_workload(bool first) {
  for (const int i : {0, 1}) {
    const auto depth = i == 0 ? workloads::Depth::light : workloads::Depth::deep;
    if (!first) {
      await_phase(first_phase_of_workload + static_cast<std::uint32_t>(i));
      store_later(alarms[i].word);
      exchange_of_workload(calls[i], answers[i], false, depth);
      continue;
    }
    phase.store(first_phase_of_workload + static_cast<std::uint32_t>(i), std::memory_order_release);
    say(depth_words[i][0], static_cast<std::uint64_t>(sleep_until(alarms[i].word, 0, depth)));
    say(depth_words[i][1], static_cast<std::uint64_t>(exchange_of_workload(answers[i], calls[i], true, depth)));
  }
}

}  // namespace

extern "C" int clock_gettime(clockid_t /*clock*/, timespec* time) noexcept {
  const std::uint64_t nanoseconds = __rdtsc() * nanoseconds_a_tick;
  time->tv_sec = static_cast<std::time_t>(nanoseconds / 1'000'000'000);
  time->tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
  ++looks;
  return 0;
}

extern "C" void run(std::uint32_t processor) {
  if (processor != 0) {
    await_phase(1);
    store_later(there.word);
    await_phase(2);
    exchange(back, there, false);
    with_the_workload(false);
    return;
  }
  constexpr std::uint16_t serial_line_control = 0x3fb;
  constexpr std::uint8_t eight_bits = 3;
  out(serial_line_control, eight_bits);
  say("wait-loop: instruction ");
  say(wait_instruction_name(wait_instruction()));
  say("\n");
  until_the_deadline();
  wake_the_other();
  until_a_store();
  there.word.store(0);
  phase.store(2, std::memory_order_release);
  const int lost = exchange(there, back, true);
  say("waits", waits);
  say("lost", static_cast<std::uint64_t>(lost));
  with_the_workload(true);
  say("wait-loop: end\n");
}
