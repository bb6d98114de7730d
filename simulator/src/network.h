// SPDX-License-Identifier: BSD-3-Clause
// The network and the clock: what is shared, and by how much, SimGrid says; all else waits for its time here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/noncopyable.h"

namespace simulated {

using Seconds = double;
using Bytes = std::uint64_t;
using Action = std::function<void()>;

/// Time, and what happens when: no network is needed for that, so that the model's tests bring one of their own.
class World : workloads::NonCopyable {
 public:
  virtual ~World() = default;

  [[nodiscard]] virtual Seconds now() const = 0;
  /// `action` happens at `time`, after what was asked for at the same time before.
  virtual void at(Seconds time, Action action) = 0;
  /// Bytes begin to leave host `from` for host `to` now; `left` happens when the last of them has left.
  virtual void move(int from, int to, Bytes bytes, Action left) = 0;
  /// From when a byte leaves `from` until it is at `to`.
  [[nodiscard]] virtual Seconds latency(int from, int to) = 0;
};

/// A platform file of SimGrid (XML). Bandwidth is shared by SimGrid; its latencies are taken out of it and paid here,
/// once a message, because pieces of one message follow each other without a pause. One a process.
class Network final : public World {
 public:
  /// UsageError where `platform` cannot be read.
  explicit Network(const std::string& platform);
  ~Network() override;

  /// SimGrid's.
  [[nodiscard]] static std::string version();
  [[nodiscard]] int hosts() const;
  /// Runs `begin` and all that follows from it.
  void run(Action begin);

  [[nodiscard]] Seconds now() const override;
  void at(Seconds time, Action action) override;
  void move(int from, int to, Bytes bytes, Action left) override;
  [[nodiscard]] Seconds latency(int from, int to) override;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// What is to happen, in the order of its time; of the same time, in the order in which it was asked for.

class Agenda {
 public:
  void add(Seconds time, Action action) {
    entries_.push_back({.time = time, .order = next_++, .action = std::move(action)});
    std::ranges::push_heap(entries_, later);
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] Seconds first() const { return entries_.front().time; }
  Action take() {
    std::ranges::pop_heap(entries_, later);
    Action action = std::move(entries_.back().action);
    entries_.pop_back();
    return action;
  }

 private:
  struct Entry {
    Seconds time;
    std::uint64_t order;
    Action action;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.time > b.time || (a.time == b.time && a.order > b.order);
  }

  std::vector<Entry> entries_;
  std::uint64_t next_ = 0;
};

}  // namespace simulated
