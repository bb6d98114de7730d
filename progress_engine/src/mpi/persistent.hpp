// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests keep their handle when they complete, so that whether one is active must be remembered.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace progress_engine {

class PersistentRequests {
 public:
  enum class State { unknown, inactive, active };

  template <typename Handle>
  void add(Handle handle) {
    set(key(handle), State::inactive);
  }
  // True if it was not active. A request that came to be behind our back is taken in.
  template <typename Handle>
  bool activate(Handle handle) {
    return set(key(handle), State::active) != State::active;
  }
  // True if it was active.
  template <typename Handle>
  bool deactivate(Handle handle) {
    return change(key(handle), State::active, State::inactive);
  }
  // Forgets it; says what it was.
  template <typename Handle>
  State remove(Handle handle) {
    return erase(key(handle));
  }
  // Without a lock: lets programs that use none pay nothing.
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

 private:
  using Key = std::uintptr_t;

  template <typename Handle>
  static Key key(Handle handle) {
    static_assert(sizeof handle <= sizeof(Key));
    Key bits = 0;
    std::memcpy(&bits, &handle, sizeof handle);
    return bits;
  }
  State set(Key key, State state);
  bool change(Key key, State from, State to);
  State erase(Key key);

  std::mutex mutex_;
  std::unordered_map<Key, State> states_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace progress_engine
