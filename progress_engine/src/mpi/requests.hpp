// SPDX-License-Identifier: BSD-3-Clause
// Handles that must be remembered from one call to the next: persistent requests, those of files, partitioned ones;
// and communicators with those of their ranks that are near. Each kind costs a program that has none one load.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace progress_engine {

// Persistent requests keep their handle when they complete, so that whether one is active must be remembered; and
// whether each start concerns all ranks, which the call that starts it does not say.
class PersistentRequests {
 public:
  enum class State { unknown, inactive, active };

  template <typename Handle>
  void add(Handle handle) {
    const std::scoped_lock lock(mutex_);
    entries_[key(handle)] = {.state = State::inactive};
    size_ = entries_.size();
  }
  // It is of a collective operation.
  template <typename Handle>
  void concerns_all(Handle handle) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = entries_.find(key(handle)); found != entries_.end()) found->second.collective = true;
  }
  // True if it was not active; `all`, if given, becomes true if it concerns all ranks. A request that came to be behind
  // our back is taken in.
  template <typename Handle>
  bool activate(Handle handle, bool* all = nullptr) {
    const std::scoped_lock lock(mutex_);
    Entry& entry = entries_[key(handle)];  // a new one's state is unknown
    size_ = entries_.size();
    if (all && entry.collective) *all = true;
    return std::exchange(entry.state, State::active) != State::active;
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
  struct Entry {
    State state = State::unknown;
    bool collective = false;
  };
  bool change(Key key, State from, State to) {
    if (empty()) return false;
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.state != from) return false;
    found->second.state = to;
    return true;
  }
  State erase(Key key) {
    if (empty()) return State::unknown;
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return State::unknown;
    const State state = found->second.state;
    entries_.erase(found);
    size_ = entries_.size();
    return state;
  }

  std::mutex mutex_;
  std::unordered_map<Key, Entry> entries_;
  std::atomic<std::size_t> size_{0};
};

// Few handles at a time. Any thread. One can be in it twice: MPI may give it out again before its first owner was told.
template <typename Handle>
class FewHandles {
 public:
  void add(Handle handle) {
    const std::scoped_lock lock(mutex_);
    handles_.push_back(handle);
    size_ = handles_.size();
  }
  // True if it was there.
  bool remove(Handle handle) {
    if (empty()) return false;
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(handles_, handle);
    if (found == handles_.end()) return false;
    handles_.erase(found);
    size_ = handles_.size();
    return true;
  }
  // Without a lock: programs that have none pay one load.
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

 private:
  std::mutex mutex_;
  std::vector<Handle> handles_;
  std::atomic<std::size_t> size_{0};
};

// Of communicators and windows, by the bits of their handles, those ranks that are on this node, with their ranks in
// the world. The MPI is asked once for all of them, and again where more neighbours are known. Any thread. Good for
// hints: what was freed unseen may be told of its successor.
class NearRanks {
 public:
  using Pair = std::pair<int, int>;  // rank, rank in the world

  // The rank in the world, -1 if that is not near; none if the MPI must be asked.
  std::optional<int> find(std::uint64_t handle, int rank, std::uint64_t neighbours) const {
    const std::scoped_lock lock(mutex_);
    const auto found = tables_.find(handle);
    if (found == tables_.end() || found->second.neighbours != neighbours) return {};
    return found->second.find(rank);
  }
  int add(std::uint64_t handle, int rank, std::uint64_t neighbours, std::vector<Pair> pairs) {
    std::ranges::sort(pairs);
    const std::scoped_lock lock(mutex_);
    if (tables_.size() >= most) tables_.clear();  // they were freed unseen
    Table& table = tables_[handle] = {neighbours, std::move(pairs)};
    return table.find(rank);
  }
  void forget(std::uint64_t handle) {
    const std::scoped_lock lock(mutex_);
    tables_.erase(handle);
  }

 private:
  struct Table {
    std::uint64_t neighbours = 0;  // known when it was made
    std::vector<Pair> pairs;       // in order

    int find(int rank) const {
      const auto found = std::ranges::lower_bound(pairs, rank, {}, &Pair::first);
      return found != pairs.end() && found->first == rank ? found->second : -1;
    }
  };
  static constexpr std::size_t most = 4096;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Table> tables_;
};

// Partitioned requests, and which of them wait: sends for partitions, new receives for their first start. While one
// waits nobody may poll, on an MPI that cannot bear it (Quirks::partitioned_alone): on others none is put here.
//
// Open MPI 5.0.11 takes a partition of a send that was started again for sent at the first poll, whoever polls, until
// MPI_Pready starts it (mca_part_persist_progress): the send completes before its data has gone, and what comes then
// may never complete. A poll beside MPI_Start can complete the request before that marks it pending. And a request that
// was freed leaves the list of them in a later poll, without the lock: so that poll is made beside no other. And a new
// receive is posted by the first poll that knows of its partner, started or not: data would come while the program
// still fills the buffer.
//
// Few at a time. Any thread.
template <typename Handle>
class PartitionedRequests {
 public:
  // `partitions` of a send; 0 of a receive, which waits for none of ours. True if it waits from now on.
  bool add(Handle handle, int partitions) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.handle == handle; });
    const bool receives = partitions == 0;
    entries_.push_back({handle, partitions, receives ? 1 : 0});
    size_ = entries_.size();
    return receives;
  }
  // How many more wait from now on: 1 (a send), -1 (a receive's first start) or 0.
  int started(Handle handle) {
    int more = 0;
    with(handle, [&more](Entry& entry) {
      more = (entry.partitions > 0 ? 1 : 0) - (entry.lacking > 0 ? 1 : 0);
      entry.lacking = entry.partitions;
      return true;
    });
    return more;
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
    int lacking;  // of a receive: 1 until it was started
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
