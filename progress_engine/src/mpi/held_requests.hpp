// SPDX-License-Identifier: BSD-3-Clause
// Requests while whose operations are pending nobody may poll.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace progress_engine {

// Few at a time. Any thread. A handle can be in it twice: MPI may give it out again before its first owner was told.
template <typename Handle>
class HeldRequests {
 public:
  void add(Handle request) {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(request);
    size_ = requests_.size();
  }
  // True if it was there.
  bool remove(Handle request) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(requests_, request);
    if (found == requests_.end()) return false;
    requests_.erase(found);
    size_ = requests_.size();
    return true;
  }
  // Without a lock: programs that have none pay one load.
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

 private:
  std::mutex mutex_;
  std::vector<Handle> requests_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace progress_engine
