// SPDX-License-Identifier: BSD-3-Clause
// Partitioned requests, and which of the sends among them wait for partitions: beside those nobody may poll.
//
// Open MPI 5.0.11 takes a partition of a send that was started again for sent at the first poll, whoever polls, until
// MPI_Pready starts it (mca_part_persist_progress): the send completes before its data has gone, and what comes then
// may never complete. A poll beside MPI_Start can complete the request before that marks it pending. And a request that
// was freed leaves the list of them in a later poll, without the lock: so that poll is made beside no other.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace progress_engine {

// Few at a time. Any thread.
template <typename Handle>
class PartitionedRequests {
 public:
  // `partitions` of a send; 0 of a receive, which waits for none of ours.
  void add(Handle handle, int partitions) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.handle == handle; });
    entries_.push_back({handle, partitions, 0});
    size_ = entries_.size();
  }
  // True if it waits for partitions from now on.
  bool started(Handle handle) {
    return with(handle, [](Entry& entry) { return (entry.lacking = entry.partitions) > 0; });
  }
  // True if it waited for these, and does not any more.
  bool ready(Handle handle, int partitions) {
    return with(handle, [&](Entry& entry) {
      const int before = entry.lacking;
      entry.lacking = std::max(0, before - partitions);
      return before > 0 && entry.lacking == 0;
    });
  }
  // Forgets it. True if it still waited.
  bool remove(Handle handle) {
    if (empty()) return false;
    const bool waited = with(handle, [](const Entry& entry) { return entry.lacking > 0; });
    const std::scoped_lock lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.handle == handle; });
    size_ = entries_.size();
    return waited;
  }
  bool has_any_of(int count, const Handle* handles) {
    return std::any_of(handles, handles + count,
                       [&](Handle handle) { return with(handle, [](Entry&) { return true; }); });
  }
  // Without a lock: programs that have none pay one load.
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

 private:
  struct Entry {
    Handle handle;
    int partitions;
    int lacking;
  };

  template <typename Use>
  bool with(Handle handle, Use&& use) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(entries_, handle, &Entry::handle);
    return found != entries_.end() && use(*found);
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace progress_engine
