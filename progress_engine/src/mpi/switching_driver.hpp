// SPDX-License-Identifier: BSD-3-Clause
// Several ways to make an MPI progress, best first, of which one is used: the next one when the present one moves
// nothing. Knows no MPI.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/burst.hpp"

namespace progress_engine {

class NamedDriver : public Driver {
 public:
  virtual std::string name() const = 0;
};

// A self-test at start would prove nothing: messages to oneself take paths of their own. So the program's operations
// tell: if they complete although polls, many of them, never moved a thing, the polls are not what moves them.
class SwitchingDriver : public NamedDriver {
 public:
  static constexpr std::uint64_t patience = 4096;           // polls in a row that moved nothing
  static constexpr std::uint64_t evidence = patience / 16;  // operations completed meanwhile

  // At least one candidate.
  explicit SwitchingDriver(std::vector<std::unique_ptr<NamedDriver>> candidates) : candidates_(std::move(candidates)) {}

  void poll() override { candidates_[current_.load(std::memory_order_relaxed)]->poll(); }

  void after_burst(const BurstResult& result, std::uint64_t completed) override {
    if (result.productive > 0 || idle_polls_ == 0) {
      idle_polls_ = 0;
      completed_before_ = completed;
    }
    idle_polls_ += result.polls;
    if (idle_polls_ < patience || completed - completed_before_ < evidence) return;
    idle_polls_ = 0;
    if (current_ + 1 < candidates_.size()) ++current_;
  }

  // Any thread.
  std::string name() const override { return candidates_[current_]->name(); }
  std::size_t switches() const { return current_; }
  std::vector<std::string> candidates() const {
    std::vector<std::string> names;
    names.reserve(candidates_.size());
    for (const auto& candidate : candidates_) names.push_back(candidate->name());
    return names;
  }

 private:
  std::vector<std::unique_ptr<NamedDriver>> candidates_;
  std::atomic<std::size_t> current_{0};
  std::uint64_t idle_polls_ = 0;  // the poller's, as is the next
  std::uint64_t completed_before_ = 0;
};

}  // namespace progress_engine
