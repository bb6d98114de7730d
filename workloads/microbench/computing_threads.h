// SPDX-License-Identifier: BSD-3-Clause
// Threads that do nothing but compute: what a communication has to compete with.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/fixed_work.h"

namespace workloads {

/// They run where the process may run, and sleep until started. Used from one thread.
class ComputingThreads {
 public:
  /// std::bad_alloc if there is no memory for their work, std::system_error if there can be no such thread.
  ComputingThreads(int count, WorkKind kind);
  ~ComputingThreads();
  ComputingThreads(const ComputingThreads&) = delete;
  ComputingThreads& operator=(const ComputingThreads&) = delete;
  ComputingThreads(ComputingThreads&&) = delete;
  ComputingThreads& operator=(ComputingThreads&&) = delete;

  /// Returns when all of them compute.
  void start();

  /// Returns when none of them does any more. Units of work a second, of all together, since start().
  double stop();

 private:
  enum class Order : std::uint8_t { sleep, compute, end };
  struct Member {
    std::unique_ptr<FixedWork> work;
    std::atomic<std::uint64_t> units = 0;
    std::thread thread;
  };

  void give(Order order);
  void live(Member& member);
  /// Sleeps, in small steps, until so many of them compute.
  void await_computing(int count) const;
  [[nodiscard]] std::uint64_t units() const;

  std::atomic<Order> order_ = Order::sleep;
  std::atomic<int> computing_ = 0;
  std::vector<Member> members_;
  Clock::time_point started_;
  std::uint64_t units_at_start_ = 0;
};

}  // namespace workloads
