// SPDX-License-Identifier: BSD-3-Clause
#include "core/activity.hpp"

namespace progress_engine {

Activity::~Activity() {
  for (ThreadSlot* slot = first_.load(); slot;) {
    ThreadSlot* next = slot->next;
    delete slot;
    slot = next;
  }
}

ThreadSlot& Activity::acquire() {
  for (ThreadSlot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next)
    if (bool expected = false; slot->owned.compare_exchange_strong(expected, true)) return *slot;
  auto* slot = new ThreadSlot;
  slot->next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(slot->next, slot, std::memory_order_release)) {
  }
  return *slot;
}

std::uint64_t Activity::started() const {
  std::uint64_t sum = 0;
  for (const ThreadSlot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next)
    sum += slot->started.load(std::memory_order_acquire);
  return sum;
}

std::uint64_t Activity::completed() const {
  std::uint64_t sum = 0;
  for (const ThreadSlot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next)
    sum += slot->completed.load(std::memory_order_acquire);
  return sum;
}

std::uint64_t Activity::rings() const {
  std::uint64_t sum = 0;
  for (const ThreadSlot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next)
    sum += slot->rings.load(std::memory_order_relaxed);
  return sum;
}

std::int64_t Activity::pending() const {
  const auto done = completed();
  return static_cast<std::int64_t>(started() - done);
}

bool Activity::anyone_inside() const {
  for (const ThreadSlot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next)
    if (slot->inside()) return true;
  return false;
}

}  // namespace progress_engine
