// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/managed_wait.hpp"

#include "platform/platform.hpp"

namespace progress_engine {

int ManagedWaits::spin(Test test, void* operation, int& done) const {
  const Nanoseconds end = now() + spin_;
  int code = 0;
  do code = test(operation, &done);
  while (!done && code == 0 && now() < end);
  return code;
}

void ManagedWaits::enter(Sleeper& sleeper) {
  const std::scoped_lock lock(mutex_);
  sleeper.next = first_;
  first_ = &sleeper;
  ++number_;
  sleeps_.fetch_add(1, std::memory_order_relaxed);
}

bool ManagedWaits::ended(Sleeper& sleeper) {
  if (!sleeper.ended.load(std::memory_order_acquire)) futex_wait(sleeper.ended, 0, longest_sleep);
  return sleeper.ended.load(std::memory_order_acquire) != 0;
}

bool ManagedWaits::try_now(Sleeper& sleeper) {
  const std::scoped_lock lock(mutex_);
  return sleeper.ended.load(std::memory_order_relaxed) != 0 || test(sleeper);
}

void ManagedWaits::leave(Sleeper& sleeper) {
  const std::scoped_lock lock(mutex_);
  if (!sleeper.ended.load(std::memory_order_relaxed)) unlink(sleeper);
}

bool ManagedWaits::test(Sleeper& sleeper) {
  sleeper.code = sleeper.test(sleeper.operation, &sleeper.done);
  return sleeper.done || sleeper.code != 0;
}

void ManagedWaits::unlink(Sleeper& sleeper) {
  Sleeper** link = &first_;
  while (*link != &sleeper) link = &(*link)->next;
  *link = sleeper.next;
  --number_;
}

void ManagedWaits::look() {
  if (number_.load(std::memory_order_acquire) == 0) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);  // who holds it tests, too
  if (!lock) return;
  for (Sleeper* sleeper = first_; sleeper;) {
    Sleeper* next = sleeper->next;
    if (test(*sleeper)) {
      unlink(*sleeper);
      // Its stack may be gone once this is seen: the futex's address alone is used afterwards.
      sleeper->ended.store(1, std::memory_order_release);
      futex_wake(sleeper->ended);
    }
    sleeper = next;
  }
}

}  // namespace progress_engine
