// SPDX-License-Identifier: BSD-3-Clause
// What is to happen, in the order of its time; of the same time, in the order in which it was asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "network.h"

namespace simulated {

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
