// SPDX-License-Identifier: BSD-3-Clause
#include "core/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace progress_engine {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

namespace {

void wait(std::atomic<std::uint32_t>& word, int operation, std::uint32_t expected, Nanoseconds timeout) {
  const timespec limit = to_timespec(timeout);
  syscall(SYS_futex, &word, operation, expected, &limit, nullptr, 0);
}

void wake(std::atomic<std::uint32_t>& word, int operation) {
  syscall(SYS_futex, &word, operation, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Nanoseconds timeout) {
  wait(word, FUTEX_WAIT_PRIVATE, expected, timeout);
}
void futex_wake(std::atomic<std::uint32_t>& word) { wake(word, FUTEX_WAKE_PRIVATE); }

void futex_wait_shared(std::atomic<std::uint32_t>& word, std::uint32_t expected, Nanoseconds timeout) {
  wait(word, FUTEX_WAIT, expected, timeout);
}
void futex_wake_shared(std::atomic<std::uint32_t>& word) { wake(word, FUTEX_WAKE); }

}  // namespace progress_engine
