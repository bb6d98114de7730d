// SPDX-License-Identifier: BSD-3-Clause
// The first and only process of a small Linux that an emulator boots: runs the wait loop of wait/user_wait.hpp with the
// instruction that the emulated CPU has, says on the console how it went, and switches the machine off.
#include <sys/reboot.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "wait/user_wait.hpp"

using namespace progress_engine;

namespace {

const char* verdict(bool good) { return good ? "ok" : "FAILED"; }

void ends_at_its_bound() {
  const std::atomic<std::uint32_t> word{0};
  const Nanoseconds before = now();
  user_wait(word, 0, microseconds(20'000), wait_instruction());
  std::printf("wait-loop: bound %s\n", verdict(now() - before >= microseconds(20'000)));
}

void ends_by_a_store() {
  std::atomic<std::uint32_t> word{0};
  const Nanoseconds before = now();
  std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    word.store(1, std::memory_order_release);
  });
  user_wait(word, 0, seconds(600), wait_instruction());
  std::printf("wait-loop: store %s\n", verdict(word.load() == 1 && now() - before < seconds(300)));
}

void does_not_begin_after_a_store() {
  const std::atomic<std::uint32_t> word{1};
  const Nanoseconds before = now();
  for (int i = 0; i < 1000; ++i) user_wait(word, 0, seconds(600), wait_instruction());
  std::printf("wait-loop: changed %s\n", verdict(now() - before < seconds(300)));
}

}  // namespace

int main() {
  std::printf("\nwait-loop: instruction %s\n", wait_instruction_name(wait_instruction()));
  ends_at_its_bound();
  ends_by_a_store();
  does_not_begin_after_a_store();
  std::printf("wait-loop: end\n");
  std::fflush(stdout);
  sync();
  if (getpid() == 1) reboot(RB_POWER_OFF);
  return 0;
}
